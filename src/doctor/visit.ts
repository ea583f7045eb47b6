import { randomBytes, randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import { createVerifier } from '../supabase/access-token.ts';
import { createAuth } from '../supabase/auth/auth.ts';
import { createClients } from '../supabase/clients.ts';
import { createData } from '../supabase/data.ts';
import { createFetch } from '../supabase/fetch.ts';
import { createFiles } from '../supabase/files.ts';
import { createPasswordPlaces } from '../supabase/password-places.ts';
import { NotChecked, Problem, reasonOf } from './problem.ts';

/** An address that no client can have (RFC 5737): what Auth notes of it came from our header. */
export const forwardedAddress = '203.0.113.7';

const patienceMs = 15_000;

export type Answer = { status: number; headers: Headers; body: unknown };
type Request = {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as apikey and bearer, as the gateway does. */
  key?: string;
  headers?: Record<string, string>;
  body?: unknown;
};

/** Asks any address. @throws when there is no answer at all */
export async function ask(url: string | URL, { method = 'GET', key, headers, body }: Request = {}) {
  const isFile = body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      'User-Agent': 'sounds-service-doctor',
      ...(key !== undefined && { apikey: key }),
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && !isFile && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isFile ? Buffer.from(body) : JSON.stringify(body) }),
    signal: AbortSignal.timeout(patienceMs),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  let parsed: unknown = bytes;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {}
  return { status: response.status, headers: response.headers, body: parsed } satisfies Answer;
}

/** What one run of the doctor asks with, what it has learned, and what it has to clear away. */
export function createVisit(config: Config, gateway: URL | null) {
  const upstream = createFetch(null);
  const clients = createClients(config, upstream.fetch);
  const { url } = config.supabase;
  const removals: { what: string; remove: () => Promise<void> }[] = [];
  const id = randomUUID();

  return {
    config,
    gateway,
    auth: createAuth(config, upstream.fetch, createPasswordPlaces(null)),
    data: createData(clients),
    files: createFiles(config, clients),
    verify: createVerifier(config, upstream.fetch),
    /** Of the temporary account; its password is known to nobody else. */
    account: { id: '', email: `${id}@doctor.invalid`, password: randomBytes(24).toString('base64url') },
    token: '',
    /** account_triggers: the function of each trigger on auth.users that is switched on, by the trigger's name. */
    report: { migrations: null as string[] | null, account_triggers: {} as Record<string, string> },
    /** Supabase's clock minus ours, in milliseconds; null before it is known. */
    clockAheadMs: null as number | null,

    /** Asks Supabase. @throws Problem when there is no answer */
    async ask(path: string, request: Request): Promise<Answer> {
      try {
        return await ask(url + path, request);
      } catch (error) {
        throw new Problem(
          `${url} did not answer: ${reasonOf(error)}.`,
          'Look at https://status.supabase.com and run the doctor again.',
          error,
        );
      }
    },

    /** Notes what has to be removed at the end, whatever happens in between. */
    later(what: string, remove: () => Promise<void>) {
      removals.push({ what, remove });
    },

    /** Removes what was made, the last first. @returns what could not be removed */
    async clearAway(): Promise<string[]> {
      const remaining: string[] = [];
      for (const { what, remove } of removals.splice(0).reverse()) {
        await remove().catch((error: unknown) => remaining.push(`${what} (${reasonOf(error)})`));
      }
      return remaining;
    },

    close: () => upstream.close(),
  };
}

export type Visit = ReturnType<typeof createVisit>;

/**
 * Asks the gateway that was named.
 * @throws NotChecked when none was, or when it limits this machine; Problem when it does not answer
 */
export async function askGateway({ gateway }: Visit, path: string, request: Request = {}): Promise<Answer> {
  if (gateway === null)
    throw new NotChecked('To check a running gateway: npm run doctor -- --gateway https://host');
  const answer = await ask(new URL(path, gateway), request).catch((error: unknown) => {
    throw new Problem(
      `Nothing answers at ${gateway.origin}: ${reasonOf(error)}.`,
      'Check that the gateway and its proxy are running, and that host name and certificate are correct.',
      error,
    );
  });
  if (answer.status === 429)
    throw new NotChecked('The limit of this address is used up: run the doctor again in a minute.');
  return answer;
}
