import { Agent, request } from 'undici';
import { serverError } from './errors.ts';

/** How long an upstream answer may take, in milliseconds, counted from the arrival of the client's request. */
export const upstreamBudgetMs = {
  /** Auth itself gives up after 10 s; cutting it off sooner could lose a sign-up that went through. */
  auth: 11_000,
  data: 5_000,
} as const;

/** The moment by which an answer must be there. */
export class Deadline {
  #arrival = performance.now();

  /** A signal that aborts when the budget, counted from the creation of this deadline, is used up. */
  signal(budgetMs: number): AbortSignal {
    return AbortSignal.timeout(Math.max(1, Math.ceil(this.#arrival + budgetMs - performance.now())));
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
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  signal: AbortSignal;
}>;

/** An answer read to its end. `body` is its JSON, undefined when there is none or it is not JSON. */
export type UpstreamAnswer = Readonly<{ status: number; body: unknown }>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Keep-alive connections to Supabase, shared by every upstream call. They are driven by undici itself: through fetch
 * a call costs the gateway twice as much, through the SDK's client more than that.
 * The pool is capped so that a burst queues here, under its deadlines, rather than exhausting Supabase's own pool.
 */
export function createUpstream() {
  const agent = new Agent({ connections: 128, keepAliveTimeout: 30_000, connect: { timeout: 5_000 } });
  return {
    /** @throws ApiError server_error when there is no whole answer before the signal aborts. */
    async call(url: string, { method = 'POST', headers, body, signal }: UpstreamRequest) {
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method,
          headers: {
            'User-Agent': 'sounds-service',
            ...headers,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
          },
          body: body === undefined ? null : JSON.stringify(body),
          signal,
        });
        return { status: answer.statusCode, body: parsed(await answer.body.text()) } as UpstreamAnswer;
      } catch (error) {
        throw serverError(error);
      }
    },
    close: () => agent.close(),
  };
}

export type Upstream = ReturnType<typeof createUpstream>;
