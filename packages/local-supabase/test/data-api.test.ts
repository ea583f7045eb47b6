import { readFileSync } from 'node:fs';
import { type JWTPayload, SignJWT } from 'jose';
import { describe, expect, inject } from 'vitest';
import { parse } from 'yaml';
import { cannotForge, forge, type Skip } from '../../../test/support/forge.ts';
import { PRIVATE_SIGNING_KEY } from '../src/keys.ts';
import { makeObjects } from './objects.ts';
import { type Supabase, test } from './supabase.ts';

type Exchange = {
  ask: string;
  answer: string;
  as?: 'service_role' | JWTPayload;
  token?: 'lower-case bearer' | 'HS256 with the kid of the key pair' | 'unsigned' | 'forged';
  headers?: Record<string, string>;
  expect?: Record<string, string>;
  differs?: string;
};

type Exchanges = {
  objects: string;
  raised: Record<string, string[]>;
  requests: Record<string, Exchange[]>;
};

const file = new URL('data-api.yaml', import.meta.url);
const { objects, raised, requests } = parse(readFileSync(file, 'utf8')) as Exchanges;

makeObjects('api_', objects);

/** Parses JSON and keeps the digits of numbers, because doubles round some and do not distinguish 1.50 from 1.5. */
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

async function authorization({ jwtSecret }: Supabase, { as, token }: Exchange, skip: Skip) {
  if (typeof as !== 'object') return {};
  const good = await forge(skip, timed(as));
  const [, payload, signature] = good.split('.');
  const header = Buffer.from('{"alg":"none"}').toString('base64url');
  switch (token) {
    case 'lower-case bearer':
      return { Authorization: `bearer ${good}` };
    case 'unsigned':
      return { Authorization: `Bearer ${header}.${payload}.` };
    case 'forged':
      return { Authorization: `Bearer ${good.slice(0, -(signature?.length ?? 0))}${'A'.repeat(86)}` };
    case 'HS256 with the kid of the key pair': {
      if (jwtSecret === '') return skip(cannotForge);
      const { kid } = PRIVATE_SIGNING_KEY;
      const signed = new SignJWT(timed(as)).setProtectedHeader({ alg: 'HS256', kid });
      return { Authorization: `Bearer ${await signed.sign(new TextEncoder().encode(jwtSecret))}` };
    }
    default:
      return { Authorization: `Bearer ${good}` };
  }
}

async function replay(supabase: Supabase, exchange: Exchange, skip: Skip) {
  const [, method = '', path, body] = /^(\S+) (\S+)(?: (.*))?$/s.exec(exchange.ask) ?? [];
  const response = await fetch(`${supabase.url}/rest/v1/${path}`, {
    method,
    headers: {
      apikey: exchange.as === 'service_role' ? supabase.secretKey : supabase.publishableKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(await authorization(supabase, exchange, skip)),
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
  // A known difference is expected to fail, so that the test reports when it is gone.
  for (const exchange of exchanges) {
    const differs = exchange.differs !== undefined && inject('stack').embedded;
    const { ask, as, token = '', headers = {} } = exchange;
    const name = [ask, as ? JSON.stringify(as) : '', token, ...Object.values(headers)].join(' ').trim();
    test(name, { fails: differs }, ({ supabase, skip }) => replay(supabase, exchange, skip));
  }
});

test('the README lists every known difference to PostgREST', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const headings = Object.values(requests).flatMap((all) => all.flatMap(({ differs = [] }) => differs));
  for (const heading of headings) expect(readme).toContain(`\n| ${heading}`);
});

test('a function that raises an SQLSTATE is answered with its status', async ({ supabase }) => {
  for (const [status, codes] of Object.entries(raised))
    for (const code of codes) {
      const answer = await supabase.rpc('api_raise', { code });
      const body = { code, message: 'told', details: 'more', hint: 'a hint' };
      expect(answer).toMatchObject({ status: Number(status), body });
    }
});
