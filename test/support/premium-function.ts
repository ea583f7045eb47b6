import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { inject } from 'vitest';
import { entitlementIds, revenueCatKeys, revenueCatProject, type SmallRevenueCat } from './small-revenuecat.ts';

const [, indented = ''] = /```ts\n(.*?) *```/s.exec(readFileSync('docs/premium.md', 'utf8')) ?? [];

/** Text of the Edge Function of docs/premium.md. */
export const premiumFunctionText = indented.replaceAll(/^ {3}/gm, '');

const script = stripTypeScriptTypes(premiumFunctionText);

const webhookSecret = 'a shared secret';

type Env = Record<string, string>;

/** Settings of the function for each version of RevenueCat's API. */
export const settingsOf: Record<'v1' | 'v2', Env> = {
  v1: { REVENUECAT_API_KEY: revenueCatKeys.v1 },
  v2: {
    REVENUECAT_API_KEY: revenueCatKeys.v2,
    REVENUECAT_PROJECT_ID: revenueCatProject,
    PREMIUM_ENTITLEMENT: entitlementIds.premium,
  },
};

/**
 * Starts the Edge Function of docs/premium.md against the local stack.
 * @param revenueCat answers what the function sends to api.revenuecat.com
 * @param dataApi answers what the function sends to Supabase. Default: the local stack
 * @returns a function that sends a webhook with an event, or with a text, and returns the status
 */
export function premiumFunction(
  revenueCat: Pick<SmallRevenueCat, 'answer'>,
  env: Env = settingsOf.v1,
  dataApi: (address: string, init: RequestInit) => Promise<Response> = fetch,
) {
  const { apiUrl, secretKey } = inject('stack');
  const keys = JSON.stringify({ default: secretKey });
  const all: Env = { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEYS: keys, REVENUECAT_SECRET: webhookSecret, ...env };
  const found: { handler?: (request: Request) => Promise<Response> } = {};
  const deno = {
    serve: (handler: (request: Request) => Promise<Response>) => Object.assign(found, { handler }),
    env: { get: (name: string) => all[name] },
  };
  const reach = (address: string, init: RequestInit = {}) => {
    const url = new URL(address);
    if (url.host !== 'api.revenuecat.com') return dataApi(address, init);
    return Promise.resolve(revenueCat.answer(url, new Headers(init.headers).get('authorization')));
  };
  new Function('Deno', 'console', 'fetch', script)(deno, { error() {} }, reach);
  return async (event: object | string, authorization = webhookSecret): Promise<number> => {
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
    const body = typeof event === 'string' ? event : JSON.stringify({ api_version: '1.0', event });
    const request = new Request('https://example.com', { method: 'POST', headers, body });
    return (await found.handler?.(request))?.status ?? 0;
  };
}
