import { Agent, type Dispatcher, request } from 'undici';
import type { Metrics, Service } from '../metrics.ts';
import { requestContext } from '../request-context.ts';

/**
 * How long a call may take, in milliseconds, counted from the start of the request's handler. Auth itself gives up after
 * 10 s; cutting it off sooner could lose a sign-up that went through.
 */
const deadlineMs: Record<Service, number> = {
  auth: 11_000,
  data: 5_000,
  replica: 5_000,
  storage: 5_000,
  keys: 5_000,
};

/** What is left of the deadline of the current request, in milliseconds; all of it outside of a request. */
export function timeLeftMs(service: Service): number {
  const { startedAt = performance.now() } = requestContext.getStore() ?? {};
  return Math.max(1, Math.ceil(startedAt + deadlineMs[service] - performance.now()));
}

/** More calls of a service at once than this are refused instead of queued: nobody would wait for the last of them. */
const maxCallsInFlight = 4_096;

/** The connections to one service. Each has its own: a service that hangs must not hold those to the others. */
function createPool() {
  const agent = new Agent({
    connections: 128,
    keepAliveTimeout: 30_000,
    connect: { timeout: 5_000 },
    allowH2: false, // one call a connection: none fails with another
  });
  return { agent, inFlight: new Set<AbortController>() };
}

function serviceOf(path: string): Service {
  if (path.includes('/rest/v1/')) return 'data';
  if (path.includes('/storage/v1/')) return 'storage';
  return path.endsWith('/jwks.json') ? 'keys' : 'auth';
}

const isReadWithArguments = /\/rest\/v1\/rpc\/.*\?/;

/** An error of anything before it may repeat the address, and with it what a user searched for, and would reach the log. */
const isFromPostgrest = /^\{.*"code":\s*"(PGRST\w{3}|\w{5})"/s;

/**
 * A fetch for supabase-js, jose and the calls to Auth: keep-alive connections, the deadline, the id and the trace of
 * the current request, metrics. It runs on undici's `request`, because Node's own fetch takes three times as much processor time.
 * It rejects when there is no whole answer in time, and for a 200 without a body, which postgrest-js takes for null.
 */
export function createFetch(metrics: Metrics | null) {
  const pools: Record<Service, ReturnType<typeof createPool>> = {
    auth: createPool(),
    data: createPool(),
    replica: createPool(),
    storage: createPool(),
    keys: createPool(),
  };

  async function call(
    url: string,
    service: Service,
    init: RequestInit,
    deadline: AbortSignal,
  ): Promise<Response> {
    const { id, trace } = requestContext.getStore() ?? {};
    const headers = init.headers instanceof Headers ? init.headers : new Headers(init.headers);
    headers.set('User-Agent', 'sounds-service');
    if (id !== undefined) headers.set('X-Request-Id', id);
    if (trace) headers.set('traceparent', trace.traceparent);
    if (trace?.tracestate) headers.set('tracestate', trace.tracestate);
    if (init.body && typeof init.body !== 'string') throw new TypeError('Only text can be sent as a body');
    const answer = await request(url, {
      dispatcher: pools[service].agent,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers,
      body: init.body ?? null,
      signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 200 && text === '') throw new Error('Answered 200 without a body');
    if (answer.statusCode >= 400 && isReadWithArguments.test(url) && !isFromPostgrest.test(text))
      throw new Error(`Answered ${answer.statusCode} with what is not PostgREST's`);
    return toResponse(answer.statusCode, answer.headers, text);
  }

  return {
    /** @param given the service that is called, where its path does not tell */
    fetch: async (
      input: string | URL | Request,
      init: RequestInit = {},
      given?: Service,
    ): Promise<Response> => {
      const { href, pathname } = new URL(input instanceof Request ? input.url : input);
      const service = given ?? serviceOf(pathname);
      const pool = pools[service];
      if (pool.inFlight.size >= maxCallsInFlight) throw new Error('Too many calls to Supabase are in flight');
      const started = performance.now();
      let status: number | null = null;
      // AbortSignal.timeout would keep a timer and a signal for seconds after each answer.
      const deadline = new AbortController();
      const timer = setTimeout(
        () => deadline.abort(new DOMException('The deadline has passed', 'TimeoutError')),
        timeLeftMs(service),
      );
      pool.inFlight.add(deadline);
      try {
        const response = await call(href, service, init, deadline.signal);
        status = response.status;
        return response;
      } catch (error) {
        throw new Error(`No answer from ${pathname}`, { cause: error });
      } finally {
        clearTimeout(timer);
        pool.inFlight.delete(deadline);
        metrics?.upstreamAnswered(service, status, performance.now() - started);
      }
    },
    /** Lets calls under way finish. @param graceMs after which they are cut */
    close: async (graceMs = 0): Promise<void> => {
      const all = Object.values(pools);
      const timer = setTimeout(() => {
        for (const { inFlight } of all) for (const call of inFlight) call.abort();
      }, graceMs);
      await Promise.all(all.map(({ agent }) => agent.close()));
      clearTimeout(timer);
    },
  };
}

/** What the callers look at. A real Response costs up to a fifth of a request. */
function toResponse(status: number, headers: Record<string, string | string[] | undefined>, text: string) {
  const answer: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'text' | 'json'> = {
    ok: status >= 200 && status < 300,
    status,
    statusText: '',
    headers: { get: (name: string) => headers[name.toLowerCase()]?.toString() ?? null } as Headers,
    text: async () => text,
    json: async () => JSON.parse(text),
  };
  return answer as Response;
}

export type Upstream = ReturnType<typeof createFetch>;
export type Fetch = Upstream['fetch'];
