import { randomUUID } from 'node:crypto';

/** API keys of the emulator, one for each version of the API. */
export const revenueCatKeys = { v1: 'sk_of_version_1', v2: 'sk_of_version_2' };
export const revenueCatProject = 'proj1ab2c3d4';

/** Ids of the entitlements, by the identifier that version 1 uses. */
export const entitlementIds = { premium: 'entla1b2c3d4e5', stickers: 'entlf6a7b8c9d0' };
type Entitlement = keyof typeof entitlementIds;

/** Purchase of a product. Times are in ms; an end of null is a purchase for life. */
interface Purchase {
  product: string;
  entitlement: Entitlement;
  purchasedAt: number;
  endsAt: number | null;
  graceEndsAt: number | null;
}

/** Customer of RevenueCat: ids of one person, and what this person owns. */
interface Customer {
  ids: string[];
  purchases: Purchase[];
}

const effectiveEnd = ({ endsAt, graceEndsAt }: Purchase) =>
  endsAt === null ? Infinity : Math.max(endsAt, graceEndsAt ?? endsAt);

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** Returns the purchase of this entitlement that ends last. */
const lastPurchase = ({ purchases }: Customer, entitlement: Entitlement) =>
  purchases
    .filter((purchase) => purchase.entitlement === entitlement)
    .toSorted((one, other) => effectiveEnd(other) - effectiveEnd(one))[0];

const json = (status: number, body: object) => Response.json(body, { status });

/** Creates the customers, each of whom is made when an unknown id is used. */
function createCustomers(clock: () => number) {
  const customers = new Map<string, Customer>();

  function customerOf(id: string): Customer {
    const known = customers.get(id);
    if (known) return known;
    const customer = { ids: [id], purchases: [] };
    customers.set(id, customer);
    return customer;
  }

  /** Adds an alias to a customer. */
  function alias(id: string, other: string) {
    const customer = customerOf(id);
    customer.ids.push(other);
    customers.set(other, customer);
  }

  /** Returns when premium ends or ended for this id, in ms. Infinity: for life. Null: it never had any. */
  const endOf = (id: string) => {
    const found = lastPurchase(customerOf(id), 'premium');
    return found ? effectiveEnd(found) : null;
  };

  /** Adds a purchase. Returns it. */
  function buy(id: string, given: Partial<Purchase> = {}): Purchase {
    const purchase: Purchase = {
      product: 'com.example.premium.monthly',
      entitlement: 'premium',
      purchasedAt: clock(),
      endsAt: null,
      graceEndsAt: null,
      ...given,
    };
    customerOf(id).purchases.push(purchase);
    return purchase;
  }

  /** Ends a purchase by a refund: one for life is gone, a subscription ends now. */
  function refund(id: string, purchase: Purchase) {
    const customer = customerOf(id);
    if (purchase.endsAt === null) customer.purchases = customer.purchases.filter((other) => other !== purchase);
    else Object.assign(purchase, { endsAt: Math.min(purchase.endsAt, clock()), graceEndsAt: null });
  }

  return {
    find: (id: string) => customers.get(id),
    customerOf,
    alias,
    endOf,
    buy,
    refund,
    purchasesOf: (id: string) => customerOf(id).purchases,
  };
}

type Customers = ReturnType<typeof createCustomers>;

/** Creates the API that the Edge Function asks. */
function createApi({ find, customerOf }: Customers, clock: () => number) {
  /** Ids that a request of version 1 has made. */
  const made: string[] = [];

  function subscriberOf(id: string) {
    const isKnown = find(id) !== undefined;
    if (!isKnown) made.push(id);
    const customer = customerOf(id);
    const entitlements: Record<string, object> = {};
    for (const name of Object.keys(entitlementIds) as Entitlement[]) {
      const found = lastPurchase(customer, name);
      if (!found) continue;
      entitlements[name] = {
        expires_date: iso(found.endsAt),
        grace_period_expires_date: iso(found.graceEndsAt),
        product_identifier: found.product,
        purchase_date: iso(found.purchasedAt),
      };
    }
    const subscriber = {
      entitlements,
      original_app_user_id: customer.ids[0],
      subscriptions: {},
      non_subscriptions: {},
    };
    return json(isKnown ? 200 : 201, { request_date: iso(clock()), request_date_ms: clock(), subscriber });
  }

  function activeEntitlementsOf(id: string, url: URL) {
    const customer = find(id);
    if (!customer) return json(404, { object: 'error', type: 'resource_missing', retryable: false });
    const items = (Object.keys(entitlementIds) as Entitlement[]).flatMap((name) => {
      const found = lastPurchase(customer, name);
      if (!found || effectiveEnd(found) <= clock()) return [];
      const expires_at = found.endsAt === null ? null : effectiveEnd(found);
      return [{ object: 'customer.active_entitlement', entitlement_id: entitlementIds[name], expires_at }];
    });
    return json(200, { object: 'list', items, next_page: null, url: url.pathname });
  }

  /** Answers a request to https://api.revenuecat.com. */
  function answer(url: URL, authorization: string | null): Response {
    const [, version, ...path] = url.pathname.split('/').map(decodeURIComponent);
    const rejected = { code: 7723, message: 'This secret API key is incompatible with this version of the API.' };
    if (version !== 'v1' && version !== 'v2') return json(404, { code: 7117 });
    if (authorization !== `Bearer ${revenueCatKeys[version]}`) return json(403, rejected);
    const [collection, owner, , customer = ''] = path;
    if (version === 'v1' && collection === 'subscribers' && owner) return subscriberOf(owner);
    if (version === 'v2' && owner === revenueCatProject && path.at(-1) === 'active_entitlements')
      return activeEntitlementsOf(customer, url);
    return json(404, { code: 7117 });
  }

  return { made, answer };
}

/** Creates the events that the webhook sends. */
function createEvents({ customerOf }: Customers, clock: () => number) {
  /** Returns an event with the documented fields, as the webhook sends it now. */
  function eventOf(id: string, type: string, purchase: Purchase | null = null, more: object = {}) {
    const { ids } = customerOf(id);
    return {
      id: randomUUID().toUpperCase(),
      type,
      event_timestamp_ms: clock(),
      app_id: '1234567890',
      app_user_id: id,
      original_app_user_id: ids[0],
      aliases: ids,
      environment: 'PRODUCTION',
      store: 'APP_STORE',
      product_id: purchase?.product ?? null,
      entitlement_id: null,
      entitlement_ids: purchase ? [purchase.entitlement] : null,
      purchased_at_ms: purchase?.purchasedAt ?? null,
      expiration_at_ms: purchase?.endsAt ?? null,
      grace_period_expiration_at_ms: purchase?.graceEndsAt ?? null,
      ...more,
    };
  }

  /** Moves all purchases to another customer. Returns the event, which names no single customer. */
  function transfer(from: string, to: string) {
    const source = customerOf(from);
    customerOf(to).purchases.push(...source.purchases);
    source.purchases = [];
    const { id, app_id, store, event_timestamp_ms } = eventOf(from, 'TRANSFER');
    const moved = { transferred_from: source.ids, transferred_to: customerOf(to).ids };
    return { id, type: 'TRANSFER', app_id, store, event_timestamp_ms, ...moved };
  }

  return { eventOf, transfer };
}

/**
 * Creates an emulator of RevenueCat that keeps purchases, and answers requests as the real API does.
 * - `GET /v1/subscribers/{id}` returns each entitlement that the customer ever had, with the dates of the purchase that
 *   ends last. It creates unknown customers (201).
 * - `GET /v2/projects/{project}/customers/{id}/active_entitlements` returns the ids of active entitlements, or 404.
 * @param clock returns the time of RevenueCat in ms
 */
export function createSmallRevenueCat(clock: () => number = Date.now) {
  const customers = createCustomers(clock);
  const { alias, endOf, buy, refund, purchasesOf } = customers;
  return {
    alias,
    endOf,
    buy,
    refund,
    purchasesOf,
    ...createApi(customers, clock),
    ...createEvents(customers, clock),
  };
}

export type SmallRevenueCat = ReturnType<typeof createSmallRevenueCat>;
