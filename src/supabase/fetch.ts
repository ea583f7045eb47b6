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

/** Creates the connections to all services, and follows the calls in flight, with metrics and deadlines. */
function createPools(metrics: Metrics | null) {
  const pools: Record<Service, ReturnType<typeof createPool>> = {
    auth: createPool(),
    data: createPool(),
    replica: createPool(),
    storage: createPool(),
    keys: createPool(),
    export: createPool(exportsAtOnce),
  };

  return {
    agentOf: (service: Service) => pools[service].agent,

    /** Begins a call, with the deadline of the current request. @throws if too many calls are in flight */
    begin(service: Service) {
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
        /** Ends a call, and counts it. @param status null when no whole response arrived in time */
        end(status: number | null) {
          clearTimeout(timer);
          inFlight.delete(deadline);
          const seconds = (performance.now() - started) / 1000;
          metrics?.upstreamCalls.observe({ service, outcome: outcomeOf(status) }, seconds);
        },
      };
    },

    /** Waits for the calls in flight. @param graceMs time after which they are aborted */
    async close(graceMs = 0): Promise<void> {
      const all = Object.values(pools);
      const timer = setTimeout(() => {
        for (const { inFlight } of all) for (const call of inFlight) call.abort();
      }, graceMs);
      await Promise.all(all.map(({ agent }) => agent.close()));
      clearTimeout(timer);
    },
  };
}

/** Returns the headers of a call, with the id and the trace of the current request. */
function headersFor({ headers: given }: RequestInit): Headers {
  const { id, trace } = requestContext.getStore() ?? {};
  const headers = given instanceof Headers ? given : new Headers(given);
  if (!headers.has('User-Agent')) headers.set('User-Agent', 'sounds-service');
  if (id !== undefined) headers.set('X-Request-Id', id);
  if (trace) headers.set('traceparent', trace.traceparent);
  if (trace?.tracestate) headers.set('tracestate', trace.tracestate);
  return headers;
}

function serviceOf(path: string): Service {
  if (path.includes('/rest/v1/')) return 'data';
  if (path.includes('/storage/v1/')) return 'storage';
  return path.endsWith('/jwks.json') ? 'keys' : 'auth';
}

/** Response whose body is still arriving. The reader must read or destroy the body. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

/** Returns the headers of undici, which gives repeated ones as a list. */
function toHeaders(given: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(given))
    for (const value of [values].flat()) headers.append(name, value);
  return headers;
}

/** Statuses whose responses have no body by definition, and whose Response must not have one. */
const statusesWithoutBody = [204, 205, 304];

/** Tells whether Supabase broke off the response. A client that disconnects also ends the stream, with this code. */
const hasBrokenOff = ({ errored }: Readable) =>
  errored !== null && (errored as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE';

/**
 * Creates the connections to Supabase, with metrics, and with the deadline, id and trace of the current request. Uses
 * undici's `request`, because Node's fetch takes three times as much processor time.
 */
export function createFetch(metrics: Metrics | null) {
  const pools = createPools(metrics);

  /** Sends a request. Resolves when the headers of the response have arrived, and rejects if none arrive in time. */
  async function stream(url: string, init: RequestInit, service: Service): Promise<Answer> {
    if (init.body && typeof init.body !== 'string') throw new TypeError('Only text can be sent as a body');
    const { deadline, end } = pools.begin(service);
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: pools.agentOf(service),
        method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
        headers: headersFor(init),
        body: init.body ?? null,
        signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
      });
      body.once('close', () => end(hasBrokenOff(body) ? null : statusCode));
      return { status: statusCode, headers: toHeaders(headers), body };
    } catch (error) {
      end(null);
      throw new Error(`No response from ${new URL(url).pathname}`, { cause: error });
    }
  }

  return {
    stream,

    /**
     * Fetches for supabase-js, jose and the calls to Auth. Rejects for a 200 without a body, which postgrest-js takes
     * for null.
     * @param given the service that is called, if the path does not name it
     */
    fetch: async (input: string | URL | Request, init: RequestInit = {}, given?: Service): Promise<Response> => {
      const { href, pathname } = new URL(input instanceof Request ? input.url : input);
      const { status, headers, body } = await stream(href, init, given ?? serviceOf(pathname));
      const parts: Buffer[] = await body.toArray().catch((error: unknown) => {
        throw new Error(`No whole response from ${pathname}`, { cause: error });
      });
      if (status === 200 && parts.length === 0) throw new Error(`The 200 response from ${pathname} has no body`);
      const content = statusesWithoutBody.includes(status) ? null : Buffer.concat(parts);
      return new Response(content, { status, headers });
    },

    close: pools.close,
  };
}

export type Upstream = ReturnType<typeof createFetch>;
export type Fetch = Upstream['fetch'];
