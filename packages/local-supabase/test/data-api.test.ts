import { readFileSync } from 'node:fs';
import type { JWTPayload } from 'jose';
import { describe, expect, inject, vi } from 'vitest';
import { parse } from 'yaml';
import { forge, type Skip } from '../../../test/support/forge.ts';
import { type Request, type Supabase, test } from './supabase.ts';

interface Exchange {
  ask: string;
  answer: string;
  as?: 'service_role' | JWTPayload;
  token?: 'unsigned' | 'forged';
  headers?: Record<string, string>;
  expect?: Record<string, string>;
}

interface Exchanges {
  objects: string;
  raised: Record<string, string[]>;
  requests: Record<string, Exchange[]>;
}

const file = new URL('data-api.yaml', import.meta.url);
const { objects, raised, requests } = parse(readFileSync(file, 'utf8')) as Exchanges;

/** Returns SQL that runs a statement for each test function in the database. A killed run may have left some. */
const onFunctions = (statement: string) => `
  do $$ declare name regprocedure; begin
    for name in select oid from pg_proc where pronamespace = 'public'::regnamespace and proname ^@ 'api_'
    loop execute format('${statement}', name); end loop;
  end $$;`;
const removed = `drop table if exists public.api_notes; ${onFunctions('drop function %s')}`;
// Grant the right, because the migrations revoke the default right to execute new functions.
const granted = onFunctions('grant execute on function %s to anon, authenticated, service_role');

const rpc = ({ call }: Supabase, name: string, body: object = {}, as: Request = {}) =>
  call(`/rest/v1/rpc/${name}`, { body, ...as });

test.beforeAll(async ({ supabase }) => {
  await supabase.sql.unsafe(removed + objects + granted);
  // Wait until the data API has read the schema again.
  await vi.waitFor(async () => expect((await rpc(supabase, 'api_none')).status).toBe(200), { timeout: 20_000 });
  return async () => {
    await supabase.sql.unsafe(removed);
  };
});

/** Parses JSON and keeps the digits of numbers, because doubles do not distinguish 1.50 from 1.5. */
const exactly = (text: string): unknown =>
  JSON.parse(text, (_, value, { source }: { source?: string } = {}) =>
    typeof value === 'number' ? { number: source } : value,
  );

/** Replaces times such as "now+60" in claims. */
function timed(claims: JWTPayload): JWTPayload {
  const time = (_: string, value: unknown) => {
    const seconds = typeof value === 'string' ? /^now([+-]\d+)$/.exec(value)?.[1] : undefined;
    return seconds ? Math.floor(Date.now() / 1000) + Number(seconds) : value;
  };
  return JSON.parse(JSON.stringify(claims), time) as JWTPayload;
}

async function authorization({ as, token }: Exchange, skip: Skip) {
  if (typeof as !== 'object') return {};
  const good = await forge(skip, timed(as));
  const sent = {
    unsigned: `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`,
    forged: `Bearer ${good.replace(/[^.]*$/, 'A'.repeat(86))}`,
  };
  return { Authorization: token ? sent[token] : `Bearer ${good}` };
}

async function replay(supabase: Supabase, exchange: Exchange, skip: Skip) {
  const [, method = '', path, body] = /^(\S+) (\S+)(?: (.*))?$/s.exec(exchange.ask) ?? [];
  const response = await fetch(`${supabase.url}/rest/v1/${path}`, {
    method,
    headers: {
      apikey: exchange.as === 'service_role' ? supabase.secretKey : supabase.publishableKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(await authorization(exchange, skip)),
      ...exchange.headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const [, status, expected = ''] = /^(\d+) ?(.*)$/s.exec(exchange.answer) ?? [];
  expect(response.status, text).toBe(Number(status));
  expect(Object.fromEntries(response.headers)).toMatchObject(exchange.expect ?? {});
  if (!/^[[{"\dtfn]/.test(expected)) return expect(text).toContain(expected);
  if (response.status < 300) return expect(exactly(text)).toEqual(exactly(expected));
  return expect(exactly(text)).toMatchObject(exactly(expected) as object);
}

describe.for(Object.entries(requests))('%s', ([, exchanges]) => {
  for (const exchange of exchanges) {
    const { ask, as, token = '', headers = {} } = exchange;
    const name = [ask, as ? JSON.stringify(as) : '', token, ...Object.values(headers)].join(' ').trim();
    test(name, ({ supabase, skip }) => replay(supabase, exchange, skip));
  }
});

test('the response to a function that raises an SQLSTATE has the status of that SQLSTATE', async ({ supabase }) => {
  for (const [status, codes] of Object.entries(raised))
    for (const code of codes) {
      const body = { code, message: 'told', details: 'more', hint: 'a hint' };
      expect(await rpc(supabase, 'api_raise', { code })).toMatchObject({ status: Number(status), body });
    }
});

test('Auth and the data API reject a missing API key, and a key of another project', async ({ supabase }) => {
  for (const path of ['/rest/v1/rpc/api_none', '/auth/v1/user'])
    for (const [apikey, message] of [
      [null, 'No API key found in request'],
      ['sb_secret_unknown', 'Invalid API key'],
    ] as const) {
      const { status, body } = await supabase.call(path, { apikey });
      expect([status, body.message]).toEqual([401, message]);
    }
});

test('a data request may have a URL of 40 KB, and its connection is closed above 50 KB', async ({ supabase }) => {
  const ask = (length: number) => supabase.call(`/rest/v1/rpc/api_me?name=${'a'.repeat(length)}`);
  expect((await ask(40_000)).body.code).toBe('PGRST202');
  await expect(ask(60_000)).rejects.toThrow('fetch failed');
});

// Skip the project of TEST_SUPABASE_URL, because other programs would lose their connections.
test.runIf(inject('stack').embedded)(
  'one request gets 503 for each closed connection of the pool',
  async ({ supabase }) => {
    const { sql, secretKey: apikey } = supabase;
    const ask = async (name = 'api_none') => {
      const { status, headers, body } = await rpc(supabase, name, {}, { apikey });
      return [status, headers.get('retry-after'), body?.code];
    };
    const connections = sql`usename = 'authenticator' and datname = current_database()`;
    const close = () => sql`select pg_terminate_backend(pid) from pg_stat_activity where ${connections}`;
    const lost = [503, '0', '57P01'];
    for (const _ of ['once', 'and again']) {
      // Send simultaneous requests, so that each opens a connection.
      for (const [status] of await Promise.all([ask(), ask(), ask()])) expect(status).toBe(200);
      const closed = await close();
      expect(closed.length).toBeGreaterThan(1);
      for (let met = 0; met < closed.length; ) {
        const answer = await ask();
        if (answer[0] === 200) continue; // the driver has not noticed yet
        expect(answer).toEqual(lost);
        met++;
      }
      expect((await ask())[0]).toBe(200);
      const waiting = ask('api_wait');
      const waits = () => sql`select from pg_stat_activity where ${connections} and wait_event = 'PgSleep'`;
      await expect.poll(waits).toHaveLength(1);
      await close();
      expect(await waiting).toEqual(lost);
    }
  },
);
