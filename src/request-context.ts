import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a request stands in a trace (https://www.w3.org/TR/trace-context/). */
export type Trace = Readonly<{
  id: string;
  /** What is sent on to Supabase: this request as the parent of the calls that it causes. */
  traceparent: string;
  tracestate: string | undefined;
}>;

/** The request that the code at hand works for: what its calls to Supabase need to know of it. */
type RequestContext = Readonly<{
  /** Sent along, so that a request can be found in the logs of Supabase. */
  id: string;
  trace: Trace;
  /** When its handler started, on the clock of performance.now(): deadlines count from here. */
  startedAt: number;
}>;

export const requestContext = new AsyncLocalStorage<RequestContext>();

/** Runs calls whose deadlines count from now, because an earlier wait or call may have used up those of the request. */
export function withNewDeadlines<T>(run: () => T): T {
  const context = requestContext.getStore();
  return context ? requestContext.run({ ...context, startedAt: performance.now() }, run) : run();
}
