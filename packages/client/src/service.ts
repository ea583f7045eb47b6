/** Longest pause of a background request, which is the window in which the service counts requests. */
const longestPauseMs = 60_000;

/** Clock of the service and number of requests left, as in its last response. */
export type Service = ReturnType<typeof createService>;

/** Returns the time of a response in milliseconds, and how exact it is. */
function timeOf(headers: Headers): { serviceMs: number; resolutionMs: number } {
  const exactMs = Number(headers.get('X-Service-Time'));
  if (exactMs) return { serviceMs: exactMs, resolutionMs: 1 };
  return { serviceMs: Date.parse(headers.get('Date') ?? ''), resolutionMs: 1_000 };
}

/** Follows the clock of the service, and the number of requests that it still allows the user. */
export function createService() {
  let aheadMs: number | undefined;
  let limit = 0;
  let remaining = 0;
  let resetsAt = 0;

  /** Updates `aheadMs` only if the response contradicts it, so that later reports never have earlier times. */
  function followClock(headers: Headers, sentMs: number) {
    const { serviceMs, resolutionMs } = timeOf(headers);
    if (!serviceMs) return;
    const mostMs = Date.now() - serviceMs;
    if (aheadMs === undefined || aheadMs > mostMs || aheadMs < sentMs - serviceMs - resolutionMs) aheadMs = mostMs;
  }

  function followLimit(headers: Headers) {
    const { serviceMs } = timeOf(headers);
    if (!serviceMs) return;
    const numberIn = (name: string) => Number(headers.get(`X-RateLimit-${name}`));
    limit = numberIn('Limit');
    remaining = numberIn('Remaining');
    resetsAt = performance.now() + numberIn('Reset') * 1_000 - serviceMs;
  }

  return {
    /**
     * Reads the headers of a response.
     * @param sentMs time of the request on the clock of this device
     */
    follow(request: Request, { headers }: Response, sentMs: number) {
      // A cache or a service worker may answer a GET with a response of an earlier day.
      if (!/GET|HEAD/.test(request.method) && !headers.has('Age')) followClock(headers, sentMs);
      if (request.headers.has('Authorization')) followLimit(headers);
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
