import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { serverError } from './errors.ts';
import type { Metrics, Service } from './metrics.ts';

/** How long an upstream answer may take, in milliseconds, counted from the arrival of the client's request. */
export const upstreamBudgetMs = {
  /** Auth itself gives up after 10 s; cutting it off sooner could lose a sign-up that went through. */
  auth: 11_000,
  data: 5_000,
} as const;

/** More than this many calls at once are not queued but refused: nobody would wait for the last of them. */
const maxCallsInFlight = 4_096;

/** When an answer must be there, and which request waits for it. */
export class Deadline {
  #arrival = performance.now();
  readonly requestId: string | undefined;

  /** @param requestId sent along, so that it can be found in the logs of Supabase */
  constructor(requestId?: string) {
    this.requestId = requestId;
  }

  /** For an upstream call: what is left of the budget, counted from the arrival. */
  within(budgetMs: number): Pick<UpstreamRequest, 'timeoutMs' | 'requestId'> {
    const left = Math.max(1, Math.ceil(this.#arrival + budgetMs - performance.now()));
    return { timeoutMs: left, requestId: this.requestId };
  }

  /**
   * Waits for work that others wait for, too, and that may take the whole budget from its own start. A request that has
   * just arrived ends with it; only one that is older needs a timer, which would be a twentieth of all that it costs.
   * @throws ApiError server_error when an older request has no time left
   */
  sharing<T>(work: Promise<T>, budgetMs: number): Promise<T> {
    const { timeoutMs } = this.within(budgetMs);
    if (timeoutMs > budgetMs - 100) return work;
    const late = delay(timeoutMs, undefined, { ref: false }).then(() => {
      throw serverError(new Error('A read that others share took longer than this request may'));
    });
    return Promise.race([work, late]);
  }

  /** Waits for work that the client sets the pace of, such as sending its body: that time does not count. */
  async excluding<T>(work: Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work;
    } finally {
      this.#arrival += performance.now() - started;
    }
  }
}

type UpstreamRequest = Readonly<{
  service: Service;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
  requestId?: string | undefined;
}>;

/** An answer read to its end. */
export class UpstreamAnswer {
  readonly status: number;
  readonly text: string;

  constructor(status: number, text: string) {
    this.status = status;
    this.text = text;
  }

  /** Its JSON, parsed; undefined when there is none or it is not JSON. */
  get body(): unknown {
    try {
      return JSON.parse(this.text);
    } catch {
      return undefined;
    }
  }
}

/**
 * Makes one call and reads its answer to the end. undici's own request() hands out a stream and takes an AbortSignal:
 * what comes with them is a tenth of all that the gateway spends on a request.
 */
function exchange(pool: Pool, options: Dispatcher.DispatchOptions, timeoutMs: number) {
  return new Promise<UpstreamAnswer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let call: Dispatcher.DispatchController | undefined;
    let late: Error | undefined;
    const timer = setTimeout(() => {
      late = new Error(`Gave up after ${timeoutMs} ms`);
      call?.abort(late);
      reject(late);
    }, timeoutMs);

    pool.dispatch(options, {
      onRequestStart(controller) {
        call = controller;
        if (late !== undefined) call.abort(late); // while it waited for a connection
      },
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        clearTimeout(timer);
        resolve(new UpstreamAnswer(status, Buffer.concat(chunks).toString()));
      },
      onResponseError(_controller, error) {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}

/**
 * Keep-alive connections to Supabase, shared by every upstream call. They are driven by undici itself: through fetch
 * a call costs the gateway four times as much, through the SDK's client more than that.
 * The pool is capped so that a burst queues here, under its deadlines, rather than exhausting Supabase's own pool.
 */
export function createUpstream(projectUrl: string, metrics: Metrics | null) {
  const { origin, pathname: prefix } = new URL(`${projectUrl}/`);
  const pool = new Pool(origin, {
    connections: 128,
    keepAliveTimeout: 30_000,
    connect: { timeout: 5_000 },
    allowH2: false, // one call a connection: none fails with another
  });
  let inFlight = 0;

  return {
    /**
     * @param path below the project's address, without a slash in front
     * @throws ApiError server_error when there is no whole answer in time.
     */
    async call(
      path: string,
      { service, method = 'POST', headers, body, timeoutMs, requestId }: UpstreamRequest,
    ): Promise<UpstreamAnswer> {
      if (inFlight >= maxCallsInFlight) throw serverError(new Error('Too many upstream calls are in flight'));
      const options: Dispatcher.DispatchOptions = {
        path: prefix + path,
        method,
        headers: {
          'User-Agent': 'sounds-service',
          ...headers,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(requestId !== undefined && { 'X-Request-Id': requestId }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      };
      inFlight++;
      const started = performance.now();
      let status: number | null = null;
      try {
        const answer = await exchange(pool, options, timeoutMs);
        status = answer.status;
        return answer;
      } catch (error) {
        throw serverError(new Error(`No answer from ${prefix}${path}`, { cause: error }));
      } finally {
        inFlight--;
        metrics?.upstreamAnswered(service, status, performance.now() - started);
      }
    },
    close: () => pool.close(),
  };
}

export type Upstream = ReturnType<typeof createUpstream>;
