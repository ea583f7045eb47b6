/** Length of the window in which the service counts requests. */
const longestPauseMs = 60_000;

/** Clock of the service and number of requests left, as in its last response. */
export type Service = ReturnType<typeof createService>;

/** Follows the clock of the service, and the number of requests that it still allows the user. */
export function createService() {
  let aheadMs: number | undefined;
  let limit = 0;
  let remaining = 0;
  let resetsAt = 0;

  return {
    /**
     * Reads the headers of a response.
     * @param isOfUser true if the request counts for the user
     * @param sentMs time of the request on the clock of this device
     */
    follow(headers: Headers, isOfUser: boolean, sentMs: number) {
      const serviceMs = Date.parse(headers.get('Date') ?? '');
      if (!serviceMs) return;
      // Keep the value unless the response contradicts it, so that a later report never has an earlier time: the header
      // has whole seconds, and the response took a while.
      const mostMs = Date.now() - serviceMs;
      if (aheadMs === undefined || aheadMs > mostMs || aheadMs < sentMs - serviceMs - 1_000) aheadMs = mostMs;
      if (!isOfUser) return;
      const numberIn = (name: string) => Number(headers.get(`X-RateLimit-${name}`));
      limit = numberIn('Limit');
      remaining = numberIn('Remaining');
      resetsAt = performance.now() + numberIn('Reset') * 1_000 - serviceMs;
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
