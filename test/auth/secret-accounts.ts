import { expect, inject } from 'vitest';
import type { Api } from '../support/api.ts';
import { newEmail, password, type Sql } from '../support/test.ts';

export const kinds = ['unknown', 'unconfirmed', 'confirmed', 'banned'] as const;
export type Kind = (typeof kinds)[number];

/** Of any password. The cost is that of Auth. */
const hash = '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';

/** An address of this kind, whose password takes as long to check as that of a real project. Nobody signs in with it. */
export async function makeAddress(url: string, sql: Sql, kind: Kind): Promise<string> {
  const email = newEmail();
  if (kind === 'unknown') return email;
  const { secretKey } = inject('stack');
  const made = await fetch(`${url}/auth/v1/admin/users`, {
    method: 'POST',
    headers: { apikey: secretKey, Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password, email_confirm: kind !== 'unconfirmed' }),
  });
  expect(made.status).toBe(200);
  await sql`
    update auth.users set
      encrypted_password = ${hash},
      banned_until = case when ${kind === 'banned'} then timestamptz '2999-01-01' end
    where email = ${email}`;
  return email;
}

const code = '12345678';
export const calls = {
  'sign-up': ['/auth/signup', { password }],
  'sign-in': ['/auth/signin', { password: 'not the password' }],
  recover: ['/auth/recover', {}],
  resend: ['/auth/resend', {}],
  'verify a recovery': ['/auth/verify', { type: 'recovery', code }],
  'verify a sign-up': ['/auth/verify', { type: 'signup', code, password }],
} as const;

/** What a client sees of an answer, without what is of its moment, or made from the address. */
export async function see(api: Api, call: keyof typeof calls, email: string, ip: string) {
  const [path, sent] = calls[call];
  const started = performance.now();
  const { status, headers, body } = await api
    .post(path)
    .set('X-Forwarded-For', ip)
    .send({ email, ...sent });
  const took = performance.now() - started;
  const ofMoment = ['date', 'etag', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const lasting = Object.entries(headers).filter(([name]) => !ofMoment.includes(name));
  const seen = JSON.stringify({ status, headers: Object.fromEntries(lasting.sort()), body });
  return { took, seen: seen.replaceAll(email, 'EMAIL').replace(/"id":"[0-9a-f-]{36}"/, '"id":"ID"') };
}

/** Who comes first waits least: each kind does as often. */
export const inTurn = <T>(kinds: readonly T[], round: number): T[] => {
  const first = round % kinds.length;
  return [...kinds.slice(first), ...kinds.slice(0, first)];
};

/** So many, that all but one of them point one way by chance once in 25,000 comparisons. */
export const rounds = 20;

/**
 * Fails where it tells something how long an answer takes: where it is longer, or shorter, in all rounds but one. A busy machine
 * moves a median as well, but not the rounds to one side.
 * @param times of a kind of address, a round each, in milliseconds
 * @param others those of another kind, at the same moments
 */
export function expectSameTime(what: string, times: readonly number[], others: readonly number[]) {
  const differences = times.map((took, round) => Math.round(took - (others[round] ?? Number.NaN)));
  const sorted = differences.toSorted((a, b) => a - b);
  const isOneSided =
    Math.sign(sorted[1] ?? 0) === Math.sign(sorted.at(-1) ?? 0) ||
    Math.sign(sorted[0] ?? 0) === Math.sign(sorted.at(-2) ?? 0);
  const isLarge = Math.abs(sorted[sorted.length >> 1] ?? 0) > 20;
  expect(isOneSided && isLarge, `${what}, milliseconds more: ${differences}`).toBe(false);
}
