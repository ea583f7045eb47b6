import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { premiumFunction, settingsOf } from '../support/premium-function.ts';
import { createSmallRevenueCat } from '../support/small-revenuecat.ts';
import { type Sql, test } from '../support/test.ts';

const dayMs = 24 * 3_600_000;
const startMs = Date.now() - 400 * dayMs;

/** Names of products; the last one has another entitlement. */
const products = ['monthly', 'yearly', 'life', 'stickers'] as const;

const step = fc.record({
  /** Change at RevenueCat. */
  change: fc.constantFrom('buy', 'buy', 'renew', 'cancel', 'billing issue', 'expire', 'refund', 'transfer', 'unknown'),
  /** Number of one of the two accounts, or of an anonymous id. */
  who: fc.nat(2),
  product: fc.constantFrom(...products),
  days: fc.integer({ min: 1, max: 400 }),
  /** Days until the next step. */
  pause: fc.integer({ min: 0, max: 60 }),
  /** Events that arrive after this step, by their place among the undelivered ones. `fails`: RevenueCat is down. */
  arriving: fc.array(fc.record({ place: fc.nat(20), fails: fc.boolean(), isTwice: fc.boolean() }), { maxLength: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const history = fc.record({
  version: fc.constantFrom<'v1' | 'v2'>('v1', 'v2'),
  steps: fc.array(step, { minLength: 2, maxLength: 5 }),
  /** Order in which the late events arrive at the end. */
  late: fc.array(fc.nat(20), { minLength: 60, maxLength: 60 }),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** Adds accounts as Auth does. Returns their ids. */
async function addAccounts(sql: Sql, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await sql`
    insert into auth.users (id, email, email_confirmed_at, aud, role)
    select id, id || '@example.com', now(), 'authenticated', 'authenticated' from unnest(${ids}::uuid[]) as given (id)`;
  return ids;
}

/**
 * Returns a data API that runs the statements of the function's two requests. premium.test.ts uses the real one.
 * It answers in a later millisecond, as over a network, because states of the same time are not ordered.
 */
const dataApiOf = (sql: Sql) => async (address: string, init: RequestInit) => {
  const { pathname, searchParams } = new URL(address);
  if (pathname === '/rest/v1/customers') {
    const arrivedAt = Date.now();
    while (Date.now() === arrivedAt) await sleep(1);
    const ids = searchParams.get('id')?.match(/[\da-f-]{36}/gi) ?? [];
    return Response.json(await sql`select id from public.customers where id = any (${ids}::uuid[])`);
  }
  expect(pathname).toBe('/rest/v1/rpc/set_premium');
  const { customer_id, premium_until, as_of } = JSON.parse(String(init.body));
  const [row] = await sql`
    select public.set_premium(${customer_id}, ${premium_until}::text::timestamptz, ${as_of}::text::timestamptz) as done`;
  return Response.json(row?.['done']);
};

/** Plays a history and delivers its events. Returns the end of premium of each account at RevenueCat, in ms. */
async function live(sql: Sql, { version, steps, late }: History, accounts: readonly string[]) {
  let nowMs = startMs;
  let isDown = false;
  const cat = createSmallRevenueCat(() => nowMs);
  const answer: typeof cat.answer = (...request) =>
    isDown ? new Response('{}', { status: 500 }) : cat.answer(...request);
  const send = premiumFunction({ answer }, settingsOf[version], dataApiOf(sql));
  const people = [...accounts, '$RCAnonymousID:8069238d6049ce87cc529853916d624c'];
  for (const id of people) cat.eventOf(id, 'TEST');
  const undelivered: object[] = [];

  async function deliver(place: number) {
    const [event] = undelivered.splice(place % undelivered.length, 1);
    if (event && (await send(event)) !== 200) undelivered.push(event);
  }

  function happen({ change, who, product, days }: Step): object {
    const id = people[who] as string;
    const latest = cat.purchasesOf(id).at(-1);
    if (change === 'transfer') return cat.transfer(id, people[(who + 1) % people.length] as string);
    if (change === 'unknown') return cat.eventOf(id, 'SOMETHING_NEW', latest ?? null, { expiration_at_ms: null });
    if (change === 'buy' || !latest || latest.endsAt === null) {
      const endsAt = product === 'life' ? null : nowMs + days * dayMs;
      const entitlement = product === 'stickers' ? 'stickers' : 'premium';
      return cat.eventOf(id, 'INITIAL_PURCHASE', cat.buy(id, { product, endsAt, entitlement }));
    }
    if (change === 'renew') latest.endsAt = nowMs + days * dayMs;
    if (change === 'billing issue') latest.graceEndsAt = latest.endsAt + 16 * dayMs;
    if (change === 'expire') nowMs = Math.max(nowMs, latest.endsAt, latest.graceEndsAt ?? 0);
    if (change === 'refund') cat.refund(id, latest);
    const types = { renew: 'RENEWAL', 'billing issue': 'BILLING_ISSUE', expire: 'EXPIRATION' } as const;
    return cat.eventOf(id, types[change as keyof typeof types] ?? 'CANCELLATION', latest);
  }

  for (const each of steps) {
    const event = happen(each);
    undelivered.push(event);
    for (const { place, fails, isTwice } of each.arriving) {
      if (!undelivered.length) continue;
      isDown = fails;
      if (isTwice) undelivered.push(undelivered[place % undelivered.length] as object);
      await (isTwice ? Promise.all([deliver(place), deliver(place)]) : deliver(place));
    }
    nowMs += each.pause * dayMs;
  }
  isDown = false;
  for (const place of late) if (undelivered.length) await deliver(place);
  expect(undelivered).toEqual([]);
  /** Returns an end of premium as the API tells it: version 2 omits premium that is over. */
  const told = (end: number | null) => (end === null || (version === 'v2' && end <= nowMs) ? null : end);
  return accounts.map((id) => ({ told, end: told(cat.endOf(id)) }));
}

test('500 random histories end with what RevenueCat says', async ({ sql }) => {
  const seed = randomInt(2 ** 31);
  const histories = fc.sample(history, { numRuns: 500, seed });
  const accounts = await addAccounts(sql, 2 * histories.length);
  const expected = new Map<string, Awaited<ReturnType<typeof live>>[number]>();
  const waiting = histories.entries();
  /** Plays the histories that are left. Several workers run, because each waits for the database most of the time. */
  async function work() {
    for (const [index, each] of waiting) {
      const own = accounts.slice(2 * index, 2 * index + 2);
      const ends = await live(sql, each, own);
      for (const [place, id] of own.entries()) expected.set(id, ends[place] as (typeof ends)[number]);
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  const rows = await sql<{ id: string; until: string | null }[]>`
    select id, premium_until::text as until from public.customers where id = any (${accounts}::uuid[])`;
  const msOf = (until: string | null) => (until === 'infinity' ? Infinity : until && Date.parse(until));
  const differing = rows.filter(({ id, until }) => {
    const { told, end } = expected.get(id) ?? {};
    return told?.(msOf(until) as number | null) !== end;
  });
  expect(rows).toHaveLength(accounts.length);
  expect(differing, `seed ${seed}`).toEqual([]);
  const kinds = [...expected.values()].map(({ end }) => (end !== null && end !== Infinity ? 'a date' : end));
  expect(new Set(kinds).size).toBe(3);
}, 300_000);
