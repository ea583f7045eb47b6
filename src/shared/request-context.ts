import { AsyncLocalStorage } from 'node:async_hooks';

/** Trace of a request (https://www.w3.org/TR/trace-context/). */
export interface Trace {
  readonly id: string;
  /** Sent to Supabase, with this request as the parent. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** Facts about the current request that its calls to Supabase need. */
interface RequestContext {
  /** Sent to Supabase, so that its logs name the request. */
  readonly id: string;
  readonly trace: Trace;
  /** The app's User-Agent, which Auth stores with sessions. */
  readonly userAgent: string | undefined;
  /** Start of the handler by performance.now(), from which deadlines count. */
  readonly startedAt: number;
}

export const requestContext = new AsyncLocalStorage<RequestContext>();

/** Runs calls with deadlines from now, because the request may have used up its deadlines in earlier calls or waits. */
export function withNewDeadlines<T>(run: () => T): T {
  const context = requestContext.getStore();
  return context ? requestContext.run({ ...context, startedAt: performance.now() }, run) : run();
}
