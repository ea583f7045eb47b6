import { Agent, fetch as undiciFetch } from 'undici';

/** How long an upstream answer may take, in milliseconds, counted from the arrival of the client's request. */
export const upstreamBudgetMs = {
  /** Auth itself gives up after 10 s; cutting it off sooner could lose a sign-up that went through. */
  auth: 11_000,
  data: 5_000,
} as const;

/** The moment by which an answer must be there. */
export class Deadline {
  readonly #arrival = performance.now();

  /** A signal that aborts when the budget, counted from the creation of this deadline, is used up. */
  signal(budgetMs: number): AbortSignal {
    return AbortSignal.timeout(Math.max(1, Math.ceil(this.#arrival + budgetMs - performance.now())));
  }
}

export type Fetch = typeof globalThis.fetch;

/**
 * Keep-alive connections to Supabase, shared by every upstream call.
 * The pool is capped so that a burst queues here, under its deadlines, rather than exhausting Supabase's own pool.
 */
export function createUpstream() {
  const agent = new Agent({ connections: 128, keepAliveTimeout: 30_000, connect: { timeout: 5_000 } });
  // The SDK is typed for the global fetch; undici's own has the same shape and must match its Agent's version.
  const fetch = ((input: string | URL, init?: RequestInit) =>
    undiciFetch(input, {
      ...(init as Parameters<typeof undiciFetch>[1]),
      dispatcher: agent,
    })) as unknown as Fetch;
  return { fetch, close: () => agent.close() };
}
