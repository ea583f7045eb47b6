import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { type Metrics, outcomeOf, type Service } from '../shared/metrics.ts';
import './no-proxy.ts';
import { requestContext } from '../shared/request-context.ts';

/** Deadline from the start of the handler. Auth takes up to 10 s; less could abort a sign-up that is committed. */
const deadlineMs: Record<Service, number> = {
  auth: 11_000,
  data: 5_000,
  replica: 5_000,
  storage: 5_000,
  keys: 5_000,
  export: 60_000, // covers the whole download
};

/** Returns the milliseconds until the deadline of the current request, or the whole deadline outside of a request. */
export function timeLeftMs(service: Service): number {
  const { startedAt = performance.now() } = requestContext.getStore() ?? {};
  return Math.max(1, Math.ceil(startedAt + deadlineMs[service] - performance.now()));
}

/** Maximum number of concurrent calls to one service. Others fail at once, because they would miss their deadline. */
const maxCallsInFlight = 4_096;

/** Maximum number of exports at once; further ones wait. Postgres writes megabytes of JSON for each. */
const exportsAtOnce = 4;

/** Uses the proxy of HTTPS_PROXY and HTTP_PROXY where Node's own fetch does. */
const AnyAgent = process.env['NODE_USE_ENV_PROXY'] === '1' ? EnvHttpProxyAgent : Agent;

/** Creates the connections to one service. They are separate, so that a slow service cannot block the others. */
function createPool(connections = 128) {
  const agent = new AnyAgent({
    connections,
    keepAliveTimeout: 30_000,
    connect: { timeout: 5_000 },
    allowH2: false, // one call per connection, so that a broken connection fails one call
  });
  return { agent, inFlight: new Set<AbortController>() };
}

function serviceOf(path: string): Service {
  if (path.includes('/rest/v1/')) return 'data';
  if (path.includes('/storage/v1/')) return 'storage';
  return path.endsWith('/jwks.json') ? 'keys' : 'auth';
}

/** Response whose body has arrived. A long body has several parts, because joining megabytes takes time. */
export type Answer = Response & { parts: readonly Buffer[] };

/** Returns the text of a body that arrived in parts. */
const textOf = (parts: readonly Buffer[]) => (parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString());

const isReadWithArguments = /\/rest\/v1\/rpc\/.*\?/;

/** Matches errors of PostgREST. Others are never logged, because a proxy may repeat the URL with the user's search. */
const isFromPostgrest = /^\{.*"code":\s*"(PGRST\w{3}|\w{5})"/s;

/** Tells whether a body begins like JSON, or is empty. */
const isLikeJson = ([start]: readonly Buffer[]) =>
  /^([[{"\d-]|true$|false$|null$|$)/.test(start?.toString('latin1', 0, 10) ?? '');

/**
 * Creates the fetch of supabase-js, jose and the calls to Auth, with metrics and the deadline, id and trace of the
 * current request. Uses undici's `request`, because Node's fetch takes three times as much processor time. Rejects if
 * no whole response arrives in time, and for a 200 without a body, which postgrest-js takes for null.
 */
export function createFetch(metrics: Metrics | null) {
  const pools: Record<Service, ReturnType<typeof createPool>> = {
    auth: createPool(),
    data: createPool(),
    replica: createPool(),
    storage: createPool(),
    keys: createPool(),
    export: createPool(exportsAtOnce),
  };

  /** Tracks a call until it ends, and gives it its deadline. */
  function begin(service: Service) {
    const { inFlight } = pools[service];
    if (inFlight.size >= maxCallsInFlight) throw new Error('Too many calls to Supabase are in flight');
    const started = performance.now();
    // AbortSignal.timeout would keep a timer and a signal for seconds after each response.
    const deadline = new AbortController();
    const timer = setTimeout(
      () => deadline.abort(new DOMException('The deadline has passed', 'TimeoutError')),
      timeLeftMs(service),
    );
    inFlight.add(deadline);
    return {
      deadline: deadline.signal,
      /** @param status null when no whole response arrived in time */
      end(status: number | null) {
        clearTimeout(timer);
        inFlight.delete(deadline);
        const seconds = (performance.now() - started) / 1000;
        metrics?.upstreamCalls.observe({ service, outcome: outcomeOf(status) }, seconds);
      },
    };
  }

  function open(url: string, service: Service, init: RequestInit, deadline: AbortSignal) {
    const { id, trace } = requestContext.getStore() ?? {};
    const headers = init.headers instanceof Headers ? init.headers : new Headers(init.headers);
    if (!headers.has('User-Agent')) headers.set('User-Agent', 'sounds-service');
    if (id !== undefined) headers.set('X-Request-Id', id);
    if (trace) headers.set('traceparent', trace.traceparent);
    if (trace?.tracestate) headers.set('tracestate', trace.tracestate);
    if (init.body && typeof init.body !== 'string') throw new TypeError('Only text can be sent as a body');
    return request(url, {
      dispatcher: pools[service].agent,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers,
      body: init.body ?? null,
      signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
    });
  }

  async function call(url: string, service: Service, init: RequestInit, deadline: AbortSignal): Promise<Answer> {
    const answer = await open(url, service, init, deadline);
    const parts: Buffer[] = await answer.body.toArray();
    if (answer.statusCode === 200 && parts.length === 0) throw new Error('The 200 response has no body');
    if (answer.statusCode < 300 && url.includes('/rest/v1/') && !isLikeJson(parts))
      throw new Error(`The ${answer.statusCode} response is not JSON`);
    if (answer.statusCode >= 400 && isReadWithArguments.test(url) && !isFromPostgrest.test(textOf(parts)))
      throw new Error(`The ${answer.statusCode} response is not from PostgREST`);
    return toResponse(answer.statusCode, answer.headers, parts);
  }

  return {
    /** @param given the service that is called, if the path does not name it */
    fetch: async (input: string | URL | Request, init: RequestInit = {}, given?: Service): Promise<Answer> => {
      const { href, pathname } = new URL(input instanceof Request ? input.url : input);
      const service = given ?? serviceOf(pathname);
      const { deadline, end } = begin(service);
      let status: number | null = null;
      try {
        const response = await call(href, service, init, deadline);
        status = response.status;
        return response;
      } catch (error) {
        throw new Error(`No response from ${pathname}`, { cause: error });
      } finally {
        end(status);
      }
    },

    /** Streams an export, which is too large for memory. Returns any other response than a 200 as a whole. */
    stream: async (url: string, init: RequestInit): Promise<Readable | Answer> => {
      const { deadline, end } = begin('export');
      try {
        const { statusCode, headers, body } = await open(url, 'export', init, deadline);
        body.once('close', () => end(statusCode)); // also if the client disconnects, because Supabase has not failed
        return statusCode === 200 ? body : toResponse(statusCode, headers, await body.toArray());
      } catch (error) {
        end(null);
        throw new Error('No response to an export', { cause: error });
      }
    },

    /** Waits for the calls in flight. @param graceMs time after which they are aborted */
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

type AnswerHeaders = Record<string, string | string[] | undefined>;

/** Returns only the members of Response that libraries use. A real one takes up to a fifth of a request's time. */
function toResponse(status: number, headers: AnswerHeaders, parts: readonly Buffer[]): Answer {
  const answer = {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name: string) => headers[name.toLowerCase()]?.toString() ?? null },
    text: async () => textOf(parts),
    json: async () => JSON.parse(textOf(parts)),
    parts,
  };
  return answer as unknown as Answer;
}

export type Upstream = ReturnType<typeof createFetch>;
export type Fetch = Upstream['fetch'];
