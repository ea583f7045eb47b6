import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, inject } from 'vitest';
import { freePort } from '../support/ports.ts';
import { newUser, type Session, type Sql, test } from '../support/test.ts';

// Runs the Edge Function of docs/premium.md in Node, against the local stack.

const [, indented = ''] = /```ts\n(.*?) *```/s.exec(readFileSync('docs/premium.md', 'utf8')) ?? [];
const code = indented.replaceAll(/^ {3}/gm, '');
const secret = 'a shared secret';

type Handler = (request: Request) => Promise<Response>;

/** Returns the handler of the Edge Function on the page. */
function edgeFunction(env: Record<string, string> = {}): Handler {
  const { apiUrl, secretKey } = inject('stack');
  const defaults = { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEYS: JSON.stringify({ default: secretKey }) };
  const all: Record<string, string> = { ...defaults, REVENUECAT_SECRET: secret, ...env };
  const found: { handler?: Handler } = {};
  const serve = (handler: Handler) => Object.assign(found, { handler });
  const quiet = { error() {}, warn() {} };
  new Function('Deno', 'console', stripTypeScriptTypes(code))(
    { serve, env: { get: (name: string) => all[name] } },
    quiet,
  );
  return found.handler as Handler;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.parse('2026-10-01T00:00:00.000Z');

/** Returns an event with the documented fields of RevenueCat. Times are in days from the start. */
function eventOf(userId: string, type: string, day: number, expirationDay: number | null, more: object = {}) {
  return {
    id: randomUUID().toUpperCase(),
    type,
    event_timestamp_ms: startMs + day * dayMs,
    app_id: '1234567890',
    app_user_id: userId,
    original_app_user_id: '$RCAnonymousID:87c6049c58069238dce29853916d624c',
    aliases: ['$RCAnonymousID:8069238d6049ce87cc529853916d624c', userId],
    product_id: 'com.example.premium.monthly',
    entitlement_id: null,
    entitlement_ids: ['premium'],
    period_type: 'NORMAL',
    purchased_at_ms: startMs,
    expiration_at_ms: expirationDay === null ? null : startMs + expirationDay * dayMs,
    grace_period_expiration_at_ms: null,
    environment: 'PRODUCTION',
    store: 'APP_STORE',
    transaction_id: '123456789012345',
    original_transaction_id: '123456789012345',
    is_family_share: false,
    country_code: 'US',
    currency: 'USD',
    price: 4.99,
    subscriber_attributes: { $email: { updated_at_ms: startMs, value: 'ada@example.com' } },
    ...more,
  };
}

const transferOf = (from: string[], to: string[], day: number) => ({
  id: randomUUID(),
  type: 'TRANSFER',
  event_timestamp_ms: startMs + day * dayMs,
  app_id: '1234567890',
  store: 'APP_STORE',
  transferred_from: from,
  transferred_to: to,
});

async function send(handler: Handler, event: object, authorization = secret): Promise<number> {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ api_version: '1.0', event });
  return (await handler(new Request('https://example.com', { method: 'POST', headers, body }))).status;
}

/** Returns the end of premium in days from the start. */
async function endOf(sql: Sql, { user }: Session): Promise<number | string | null> {
  const [row] = await sql`select premium_until::text as until from public.customers where id = ${user.id}`;
  const until: string | null = row?.['until'];
  return until === null || until === 'infinity' ? until : (Date.parse(until) - startMs) / dayMs;
}

test('the recipe has at most 60 lines, and sets premium_until by each event of RevenueCat', async ({
  gateway,
  sql,
}) => {
  expect(code.split('\n').length - 1).toBeLessThanOrEqual(60);
  const handler = edgeFunction();
  const user = await newUser(gateway);
  const { id } = user.user;
  for (const [event, expected] of [
    [eventOf(id.toUpperCase(), 'INITIAL_PURCHASE', 0, 30), 30],
    [eventOf(id, 'RENEWAL', 30, 60), 60],
    [eventOf(id, 'PRODUCT_CHANGE', 31, 60, { new_product_id: 'com.example.premium.yearly' }), 60],
    [eventOf(id, 'RENEWAL', 32, 400), 400],
    [eventOf(id, 'CANCELLATION', 33, 400, { cancel_reason: 'UNSUBSCRIBE' }), 400],
    [eventOf(id, 'UNCANCELLATION', 34, 400), 400],
    [eventOf(id, 'BILLING_ISSUE', 400, 400, { grace_period_expiration_at_ms: startMs + 416 * dayMs }), 416],
    [eventOf(id, 'CANCELLATION', 400.1, 400, { cancel_reason: 'BILLING_ERROR' }), 416],
    [eventOf(id, 'EXPIRATION', 416.2, 416, { expiration_reason: 'BILLING_ERROR' }), 416],
    [eventOf(id, 'INITIAL_PURCHASE', 420, 450, { environment: 'SANDBOX' }), 416],
    [eventOf(id, 'INITIAL_PURCHASE', 421, 450, { entitlement_ids: ['stickers'] }), 416],
    [eventOf(id, 'TEST', 422, null, { entitlement_ids: null }), 416],
    [eventOf('$RCAnonymousID:1', 'RENEWAL', 423, 450), 450], // the user is an alias
    [eventOf(id, 'CANCELLATION', 424, 450, { cancel_reason: 'CUSTOMER_SUPPORT' }), 424],
    [eventOf(id, 'NON_RENEWING_PURCHASE', 425, null), 'infinity'],
    [eventOf(id, 'CANCELLATION', 426, null, { cancel_reason: 'CUSTOMER_SUPPORT' }), 426],
    [eventOf(id, 'RENEWAL', 427, 4_000_000), 'infinity'],
    [eventOf(id, 'EXPIRATION', 428, 428), 428],
  ] as const) {
    const sent = event.app_user_id.startsWith('$') ? { ...event, aliases: [id] } : event;
    expect([await send(handler, sent), await send(handler, sent)], event.type).toEqual([200, 200]);
    expect(await endOf(sql, user), `${event.type} of day ${event.event_timestamp_ms}`).toBe(expected);
  }
});

test('20 events with repeats leave the state of the newest one, in any order', async ({ gateway, sql }) => {
  const handler = edgeFunction();
  const types = ['INITIAL_PURCHASE', 'RENEWAL', 'CANCELLATION', 'PRODUCT_CHANGE', 'EXPIRATION'];
  for (let run = 0; run < 5; run++) {
    const user = await newUser(gateway);
    const events = Array.from({ length: 20 }, (_, day) =>
      eventOf(user.user.id, types[day % types.length] as string, day, day % 3 ? day - 0.5 : day + 30),
    );
    const order = [...events, ...events.slice(0, 10)].toSorted(() => Math.random() - 0.5);
    for (const event of order) expect(await send(handler, event)).toBe(200);
    const days = order.map(({ event_timestamp_ms }) => (event_timestamp_ms - startMs) / dayMs);
    expect(await endOf(sql, user), `order: ${days}`).toBe(18.5);
  }
});

test('a transfer moves the end of premium, once, and not before the purchase has arrived', async ({ gateway, sql }) => {
  const handler = edgeFunction();
  const [ada, ben] = [await newUser(gateway), await newUser(gateway)];
  const ends = async () => [await endOf(sql, ada), await endOf(sql, ben)];
  const transfer = transferOf(['$RCAnonymousID:1', ada.user.id], ['$RCAnonymousID:2', ben.user.id], 10);
  expect(await send(handler, transfer)).toBe(503);
  expect(await send(handler, eventOf(ada.user.id, 'INITIAL_PURCHASE', 0, 30))).toBe(200);
  for (let repeat = 0; repeat < 2; repeat++) {
    expect(await send(handler, transfer)).toBe(200);
    expect(await ends()).toEqual([null, 30]);
  }
  expect(await send(handler, eventOf(ada.user.id, 'RENEWAL', 9, 60))).toBe(200);
  expect(await ends()).toEqual([null, 30]);
  expect(await send(handler, eventOf(ben.user.id, 'RENEWAL', 30, 60))).toBe(200);
  expect(await send(handler, transferOf(['$RCAnonymousID:3'], [ada.user.id], 31))).toBe(200);
  expect(await send(handler, transfer)).toBe(200);
  expect(await ends()).toEqual([null, 60]);
});

test('the recipe rejects a wrong secret, and answers 503 when the write failed', async ({ gateway, sql }) => {
  const user = await newUser(gateway);
  const event = eventOf(user.user.id, 'INITIAL_PURCHASE', 0, 30);
  for (const wrong of ['', 'undefined', `${secret}.`]) expect(await send(edgeFunction(), event, wrong)).toBe(401);
  expect(await send(edgeFunction({ REVENUECAT_SECRET: '' }), event, '')).toBe(401);
  const unreachable = edgeFunction({ SUPABASE_URL: `http://127.0.0.1:${await freePort()}` });
  expect(await send(unreachable, event)).toBe(503);
  expect(await send(edgeFunction(), { ...event, event_timestamp_ms: undefined })).toBe(503);
  expect(await endOf(sql, user)).toBeNull();
  expect(await send(edgeFunction(), eventOf(randomUUID(), 'RENEWAL', 0, 30))).toBe(200); // an account that was deleted
  const legacy = { SUPABASE_SECRET_KEYS: '', SUPABASE_SERVICE_ROLE_KEY: inject('stack').secretKey };
  expect(
    await send(edgeFunction({ ...legacy, PREMIUM_ENTITLEMENT: 'pro' }), { ...event, entitlement_ids: ['pro'] }),
  ).toBe(200);
  expect(await endOf(sql, user)).toBe(30);
});
