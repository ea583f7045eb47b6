import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { freePort } from '../support/ports.ts';
import { premiumFunction, premiumFunctionText, settingsOf } from '../support/premium-function.ts';
import { createSmallRevenueCat, type SmallRevenueCat } from '../support/small-revenuecat.ts';
import { newUser, type Session, type Sql, test } from '../support/test.ts';

const dayMs = 24 * 3_600_000;
const nowMs = Date.now();
const inDays = (days: number) => nowMs + days * dayMs;
const anonymous = '$RCAnonymousID:87c6049c58069238dce29853916d624c';

/** Returns the stored end of a customer's premium, in ms. Infinity: for life. Null: no premium. */
async function endOf(sql: Sql, { user }: Session): Promise<number | null> {
  const [row] = await sql`select premium_until::text as until from public.customers where id = ${user.id}`;
  const until: string | null = row?.['until'];
  if (until === 'infinity') return Infinity;
  return until === null ? null : Date.parse(until);
}

test('the recipe has at most 75 lines', () => {
  expect(premiumFunctionText.split('\n').length - 1).toBeLessThanOrEqual(75);
});

/** Histories of one customer: functions that buy at RevenueCat, and return the last event and the end of premium. */
const histories: Record<string, (cat: SmallRevenueCat, id: string) => { event: object; end: number | null }> = {
  'a monthly subscription that ends beside a purchase for life': (cat, id) => {
    const monthly = cat.buy(id, { endsAt: inDays(-1) });
    cat.buy(id, { product: 'com.example.premium.life' });
    return { event: cat.eventOf(id, 'EXPIRATION', monthly), end: Infinity };
  },
  'the refund of another product': (cat, id) => {
    cat.buy(id, { endsAt: inDays(300) });
    const other = cat.buy(id, { product: 'com.example.stickers', entitlement: 'stickers' });
    cat.refund(id, other);
    const event = cat.eventOf(id, 'CANCELLATION', other, { cancel_reason: 'CUSTOMER_SUPPORT' });
    return { event, end: inDays(300) };
  },
  'a transfer from an anonymous id after a reinstall': (cat, id) => {
    cat.buy(anonymous, { endsAt: inDays(20) });
    return { event: cat.transfer(anonymous, id), end: inDays(20) };
  },
  'a billing issue with 16 days of grace, then a cancellation': (cat, id) => {
    const monthly = cat.buy(id, { endsAt: inDays(-1), graceEndsAt: inDays(15) });
    const event = cat.eventOf(id, 'CANCELLATION', monthly, { cancel_reason: 'BILLING_ERROR' });
    return { event, end: inDays(15) };
  },
  'an id of an older app, with the account among the aliases': (cat, id) => {
    cat.alias('user-4711', id);
    const monthly = cat.buy(id, { endsAt: inDays(30) });
    return { event: cat.eventOf('user-4711', 'RENEWAL', monthly), end: inDays(30) };
  },
  'an event of an unknown kind without an end': (cat, id) => {
    const monthly = cat.buy(id, { endsAt: inDays(30) });
    const event = cat.eventOf(id, 'SOMETHING_NEW', monthly, { expiration_at_ms: null });
    return { event, end: inDays(30) };
  },
  'a temporary grant while the store does not answer': (cat, id) => {
    const monthly = cat.buy(id, { endsAt: inDays(1) });
    const { app_user_id, ...event } = cat.eventOf(id, 'TEMPORARY_ENTITLEMENT_GRANT', monthly);
    return { event: { ...event, app_user_id: anonymous, original_app_user_id: id, aliases: [] }, end: inDays(1) };
  },
  'a purchase for life that was refunded': (cat, id) => {
    const life = cat.buy(id);
    cat.refund(id, life);
    return { event: cat.eventOf(id, 'CANCELLATION', life, { cancel_reason: 'CUSTOMER_SUPPORT' }), end: null };
  },
  'an end beyond the year 9999': (cat, id) => {
    const promotion = cat.buy(id, { endsAt: Date.UTC(12_000, 0) });
    return { event: cat.eventOf(id, 'NON_RENEWING_PURCHASE', promotion), end: Infinity };
  },
  'no purchase at all': (cat, id) => ({ event: cat.eventOf(id, 'TEST'), end: null }),
};

describe.each(['v1', 'v2'] as const)('with version %s of the API', (version) => {
  test('premium_until is what RevenueCat says now, whatever the event', async ({ gateway, sql }) => {
    const cat = createSmallRevenueCat(() => nowMs);
    const send = premiumFunction(cat, settingsOf[version]);
    for (const [name, history] of Object.entries(histories)) {
      const user = await newUser(gateway);
      const { event, end } = history(cat, user.user.id);
      expect(await send(event), name).toBe(200);
      expect(await endOf(sql, user), name).toBe(end);
    }
    expect(cat.made).toEqual([]);
  });

  test('a purchase that was moved to another account leaves the first one', async ({ gateway, sql }) => {
    const cat = createSmallRevenueCat(() => nowMs);
    const send = premiumFunction(cat, settingsOf[version]);
    const [ada, ben] = [await newUser(gateway), await newUser(gateway)];
    const bought = cat.eventOf(ada.user.id, 'INITIAL_PURCHASE', cat.buy(ada.user.id, { endsAt: inDays(30) }));
    expect(await send(bought)).toBe(200);
    cat.eventOf(ben.user.id, 'TEST'); // RevenueCat knows the second account since its sign-in
    const transfer = cat.transfer(ada.user.id, ben.user.id);
    for (const event of [transfer, bought, transfer]) expect(await send(event)).toBe(200);
    expect([await endOf(sql, ada), await endOf(sql, ben)]).toEqual([null, inDays(30)]);
  });

  test('a failure or an unknown answer of RevenueCat is 503 and changes nothing', async ({ gateway, sql }) => {
    const cat = createSmallRevenueCat(() => nowMs);
    const user = await newUser(gateway);
    const event = cat.eventOf(user.user.id, 'RENEWAL', cat.buy(user.user.id, { endsAt: inDays(30) }));
    const settings = settingsOf[version];
    expect(await premiumFunction(cat, settings)(event)).toBe(200);
    const bodies = [
      {},
      { items: null, subscriber: null },
      { items: [{ entitlement_id: settings['PREMIUM_ENTITLEMENT'] }] },
    ];
    const answers = [
      ...bodies.map((body) => () => Response.json(body)),
      () => Response.json({ subscriber: { entitlements: { premium: {} } } }),
      () => Response.json({ subscriber: { entitlements: { premium: { expires_date: 'soon' } } } }),
      () => new Response('<html>Maintenance</html>'),
      () => new Response('{}', { status: 500 }),
      () => new Response('{}', { status: 429, headers: { 'Retry-After': '30' } }),
    ];
    for (const answer of answers) expect(await premiumFunction({ answer }, settings)(event)).toBe(503);
    const wrongKey = { ...settings, REVENUECAT_API_KEY: 'sk_of_another_project' };
    expect(await premiumFunction(cat, wrongKey)(event)).toBe(503);
    expect(await endOf(sql, user)).toBe(inDays(30));
  });
});

test('an id is asked for in the letters of the event, and the latest end of two spellings counts', async ({
  gateway,
  sql,
}) => {
  const cat = createSmallRevenueCat(() => nowMs);
  const send = premiumFunction(cat);
  const user = await newUser(gateway);
  const { id } = user.user;
  cat.buy(id.toUpperCase(), { endsAt: inDays(30) });
  expect(await send(cat.eventOf(id.toUpperCase(), 'INITIAL_PURCHASE'))).toBe(200);
  expect(await endOf(sql, user)).toBe(inDays(30));
  cat.eventOf(id, 'TEST');
  expect(await send(cat.transfer(id, id.toUpperCase()))).toBe(200);
  expect(await endOf(sql, user)).toBe(inDays(30));
  expect(cat.made).toEqual([]);
});

test('RevenueCat is not asked about ids that are no customers here, because it would make them', async () => {
  const cat = createSmallRevenueCat(() => nowMs);
  const send = premiumFunction(cat);
  const event = cat.eventOf(anonymous, 'RENEWAL');
  expect(await send({ ...event, app_user_id: randomUUID(), aliases: [randomUUID(), 'user-4711', null] })).toBe(200);
  expect(cat.made).toEqual([]);
});

test('the recipe rejects wrong secrets and malformed events, and answers 503 if a write fails', async ({
  gateway,
  sql,
}) => {
  const cat = createSmallRevenueCat(() => nowMs);
  const user = await newUser(gateway);
  const event = cat.eventOf(user.user.id, 'INITIAL_PURCHASE', cat.buy(user.user.id, { endsAt: inDays(30) }));
  const send = premiumFunction(cat);
  for (const wrong of ['', 'undefined', 'a shared secret.']) expect(await send(event, wrong)).toBe(401);
  expect(await premiumFunction(cat, { ...settingsOf.v1, REVENUECAT_SECRET: '' })(event, '')).toBe(401);
  for (const text of ['', '{', 'event=1', '{}', 'null', '[]', '{"event":null}', '{"event":"TEST"}', '{"event":{}}'])
    expect(await send(text), text).toBe(400);
  const unreachable = { ...settingsOf.v1, SUPABASE_URL: `http://127.0.0.1:${await freePort()}` };
  expect(await premiumFunction(cat, unreachable)(event)).toBe(503);
  expect(await endOf(sql, user)).toBeNull();
  const legacy = { SUPABASE_SECRET_KEYS: '', SUPABASE_SERVICE_ROLE_KEY: inject('stack').secretKey };
  expect(await premiumFunction(cat, { ...settingsOf.v1, ...legacy })(event)).toBe(200);
  expect(await endOf(sql, user)).toBe(inDays(30));
});
