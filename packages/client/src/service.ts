/** Longest pause of a background request, which is the window in which the service counts requests. */
const longestPauseMs = 60_000;

/** Clock of the service and number of requests left, as in its last response. */
export type Service = ReturnType<typeof createService>;

/** Follows the clock of the service, and the number of requests that it still allows the user. */
export function createService() {
  let aheadMs: number | undefined;
  let limit = 0;
  let remaining = 0;
  let resetsAt = 0;

  /** Updates `aheadMs` only if the response contradicts it, so that later reports never have earlier times. */
  function followClock(serviceMs: number, sentMs: number) {
    const mostMs = Date.now() - serviceMs;
    if (aheadMs === undefined || aheadMs > mostMs || aheadMs < sentMs - serviceMs) aheadMs = mostMs;
  }

  function followLimit(serviceMs: number, numberIn: (header: string) => number) {
    limit = numberIn('X-RateLimit-Limit');
    remaining = numberIn('X-RateLimit-Remaining');
    resetsAt = performance.now() + numberIn('X-RateLimit-Reset') * 1_000 - serviceMs;
  }

  return {
    /**
     * Reads the headers of a response.
     * @param sentMs time of the request on the clock of this device
     */
    follow(request: Request, { headers }: Response, sentMs: number) {
      const numberIn = (header: string) => Number(headers.get(header));
      const serviceMs = numberIn('X-Service-Time');
      if (!serviceMs) return;
      // A cache or a service worker may answer a GET with a response of an earlier day.
      if (!/GET|HEAD/.test(request.method) && !headers.has('Age')) followClock(serviceMs, sentMs);
      if (request.headers.has('Authorization')) followLimit(serviceMs, numberIn);
    },

    /** Returns how far the clock of this device is ahead. @param earlierMs result of an earlier start */
    aheadMs(earlierMs = 0) {
      aheadMs ??= earlierMs;
      return aheadMs;
    },

    /** Returns how long a background request must wait, so that a share of the limit stays free for the user. */
    pauseMs(share: number) {
      const isFree = remaining - 1 >= limit * share;
      return isFree ? 0 : Math.min(Math.max(0, resetsAt - performance.now()), longestPauseMs);
    },
  };
}
