import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../app.ts';
import type { Config } from '../config/config.ts';
import { type Context, createContext } from '../context.ts';
import { orElse } from '../shared/or-else.ts';
import { failed, NotChecked, reasonOf } from './result.ts';

/** Address for documentation (RFC 5737). If Auth records it, it came from our header. */
export const forwardedAddress = '203.0.113.7';

const timeoutMs = 15_000;

interface Request {
  /** Default: POST with a body, else GET. */
  method?: 'DELETE';
  key?: string;
  /** Bearer token. Default: the key. */
  token?: string | undefined;
  headers?: Record<string, string>;
  /** Body. A text is sent unchanged, any other value as JSON. */
  body?: unknown;
}

/** Sends a request to any address. Parses the response if it is JSON. @throws if there is no response */
export async function ask(url: string | URL, { method, key, token = key, headers, body }: Request = {}) {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      'User-Agent': 'sounds-service-doctor',
      'Content-Type': 'application/json',
      ...(key !== undefined && { apikey: key }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: orElse((): unknown => JSON.parse(answer), answer),
  };
}

/** Result of the SQL function `doctor_report`. */
interface Report {
  /** Null if the database has no migration history. */
  migrations: string[] | null;
  /** Hourly job of Supabase Cron. Null if it is not scheduled. */
  upkeep: {
    active: boolean;
    schedule: string;
    last_run: { status: string; message: string | null; start_time: string; is_old: boolean } | null;
  } | null;
  tables_without_row_security: string[];
  triggers: Record<string, { table: string; is_on: boolean }>;
  /** True if Auth has the table of passkeys, which older projects lack. */
  has_passkeys: boolean;
  /** Policies that give API roles access to files, or that let them change buckets. */
  file_policies: { name: string; table: string; rule: string }[];
  /** Roles of the API that may not use the schema private. */
  roles_without_private: string[];
  allows_guests: boolean;
  has_accounts_without_customer: boolean;
  /** Contents of the trash in words; null if it is empty. */
  trash: string | null;
}

/** Creates the context of a gateway without Redis, metrics and proxies. */
const createOwnContext = (config: Config, appleUrl: string | undefined) =>
  createContext(
    {
      ...config,
      requireHttps: false,
      trustProxy: false,
      metricsPort: null,
      rateLimits: {
        userPerMinute: 100,
        apiKeyPerMinute: 100,
        anonymousPerMinute: 100,
        signUpsPerHour: 1,
        guestsPerHour: 1,
      },
      secrets: { ...config.secrets, redisUrl: null },
    },
    pino({ level: 'silent' }),
    appleUrl,
  );

/** Creates a gateway in this process. It listens from the first call of `address` on. */
function createOwnGateway(context: Context) {
  let server: Server | undefined;
  return {
    async address(): Promise<URL> {
      if (server === undefined) {
        server = createApp(context).listen(0, '127.0.0.1');
        await once(server, 'listening');
      }
      return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    },
    close: () => server?.close().closeAllConnections(),
  };
}

/** Creates the list of the objects that a run must remove. */
function createCleanup() {
  const deferred: { what: string; remove: () => Promise<void> }[] = [];
  return {
    defer(what: string, remove: () => Promise<void>) {
      deferred.push({ what, remove });
    },

    /** Removes the objects of this run, newest first. @returns the names of those that could not be removed */
    async cleanup(): Promise<string[]> {
      const remaining: string[] = [];
      for (const { what, remove } of deferred.splice(0).reverse())
        await remove().catch((error: unknown) => remaining.push(`${what} (${reasonOf(error)})`));
      return remaining;
    },
  };
}

/**
 * Creates the state of one run: its clients, its results so far, and the objects that it must remove.
 * @param appleUrl address of Apple, which tests replace
 */
export function createRun(config: Config, gateway: URL | null, appleUrl?: string) {
  const { url, publishableKey } = config.supabase;
  const key = config.secrets.supabaseSecretKey;
  const context = createOwnContext(config, appleUrl);
  const ownGateway = createOwnGateway(context);

  /** Sends a request to Supabase, by default with the publishable key. @throws Problem if there is no response */
  const askSupabase = (path: string, request: Request = {}) =>
    ask(url + path, { key: publishableKey, ...request }).catch(
      failed(`${url} did not answer`, 'Look at https://status.supabase.com and run the doctor again.'),
    );

  return {
    config,
    gateway,
    auth: context.auth,
    apple: context.apple,
    files: context.files,
    verify: context.verify,
    account: { id: '', email: `${randomUUID()}@doctor.invalid`, password: randomBytes(24).toString('base64url') },
    token: '',
    /** Result of public.doctor_report. Null if it was not read, or the database lacks the function. */
    report: null as Report | null,
    ask: askSupabase,
    askAsService: (path: string, request: Request = {}) => askSupabase(path, { key, ...request }),
    ownGateway: ownGateway.address,
    ...createCleanup(),
    async close() {
      ownGateway.close();
      await context.close();
    },
  };
}

export type Run = ReturnType<typeof createRun>;

export interface Check {
  readonly name: string;
  /** Checks that must succeed before this one runs. */
  readonly needs: readonly Check[];
  /** Returns what was confirmed, as a sentence. @throws Problem, or an AggregateError of several; NotChecked */
  readonly execute: (run: Run) => Promise<string> | string;
}

export const check = (name: string, needs: Check['needs'], execute: Check['execute']): Check => ({
  name,
  needs,
  execute,
});

/** Calls the gateway of --gateway. @throws NotChecked without one, or at its limit; Problem if it does not answer */
export async function askGateway({ gateway }: Run, path: string, request: Request = {}) {
  if (gateway === null) throw new NotChecked('To check a running gateway: npm run doctor -- --gateway https://host');
  const answer = await ask(new URL(path, gateway), request).catch(
    failed(
      `${gateway.origin} does not answer`,
      'Check that the gateway and its proxy are running, and that host name and certificate are correct.',
    ),
  );
  if (answer.status === 429)
    throw new NotChecked('The limit of this address is used up: run the doctor again in a minute.');
  return answer;
}

/** Calls the gateway of --gateway, or one in this process, as an app. @throws NotChecked if it rejects this machine */
export async function askApi(run: Run, path: string, token: string) {
  if (run.gateway === null) return ask(new URL(path, await run.ownGateway()), { token });
  const answer = await askGateway(run, path, { token }).catch((error: Error) => {
    throw new NotChecked(error.message); // the check of the gateway itself tells what to do
  });
  // Plain http is the only reason to reject a well-formed request.
  if (answer.status === 400) throw new NotChecked('The gateway rejects requests over plain http.');
  return answer;
}
