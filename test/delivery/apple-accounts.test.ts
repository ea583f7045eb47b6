import { createServer } from 'node:http';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import * as jose from 'jose';
import { describe, expect, inject } from 'vitest';
import { apiAt } from '../support/api.ts';
import { codeIn, startEdgeFunction, untilCallable } from '../support/edge-function.ts';
import { fixture } from '../support/fixture.ts';
import { type Gateway, listen } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { test as base, newEmail, password, type Session, type Sql, signUp } from '../support/test.ts';

const page = 'docs/apple.md';
const chapter = 'Sign in with Apple';
const clientIds = 'com.example.sounds,com.example.web';

/** Test function with a server that publishes the keys of an Apple emulator, and with the SQL of docs/apple.md. */
const test = base.extend<{ $file: { keys: { url: string; privateKey: jose.CryptoKey }; installed: Sql } }>({
  keys: [
    fixture(async (use) => {
      const { publicKey, privateKey } = await jose.generateKeyPair('RS256');
      const published = JSON.stringify({ keys: [{ ...(await jose.exportJWK(publicKey)), kid: 'a', alg: 'RS256' }] });
      const server = await listen(createServer((_req, res) => res.end(published)));
      await use({ url: `http://127.0.0.1:${server.port}`, privateKey });
      await server.close();
    }),
    { scope: 'file' },
  ],
  /** Installs the SQL of the page. Removes it after the tests. */
  installed: [
    async ({ sql }, use) => {
      await sql.unsafe(codeIn(page, 'sql', chapter));
      await untilCallable('end_apple_sessions', { apple_id: 'of nobody' });
      await use(sql);
      await sql`drop function public.end_apple_sessions`;
    },
    { scope: 'file' },
  ],
});

/** Starts the Edge Function of the page. @param keysUrl address of the published keys, in place of Apple's */
function start(keysUrl: string, env: Record<string, string> = {}) {
  const packages = { jose: { ...jose, createRemoteJWKSet: () => jose.createRemoteJWKSet(new URL(keysUrl)) } };
  return startEdgeFunction(codeIn(page, 'ts', chapter), packages, { APPLE_CLIENT_IDS: clientIds, ...env });
}

const post = (body: unknown) => new Request('https://example.com', { method: 'POST', body: JSON.stringify(body) });

/** Returns a notification as Apple sends it: `events` is a JSON text. */
async function notification(privateKey: jose.CryptoKey, event: object, claims: object = {}) {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iss: 'https://appleid.apple.com',
    aud: 'com.example.sounds',
    iat: now,
    exp: now + 86_400,
    jti: 'x',
  };
  const events = JSON.stringify({ event_time: Date.now(), ...event });
  const signed = new jose.SignJWT({ ...payload, events, ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'a' });
  return { payload: await signed.sign(privateKey) };
}

async function signInWithApple({ url }: Gateway, email = newEmail()) {
  const id_token = await makeIdToken({ provider: 'apple', email });
  const { body } = await apiAt(url).post('/auth/oauth/apple').send({ id_token }).expect(200);
  const sub = String(jose.decodeJwt(id_token).sub);
  return { session: body.data as Session, sub };
}

/** Returns the numbers of accounts and sessions that are left of a user. */
async function leftOf(sql: Sql, { user }: Session) {
  const [row] = await sql`
    select (select count(*)::int from auth.users where id = ${user.id}) as accounts,
      (select count(*)::int from auth.sessions where user_id = ${user.id}) as sessions`;
  return row;
}

// A real project trusts only tokens of Apple, which tests cannot sign.
describe.runIf(inject('stack').embedded)('the recipe for notifications of Sign in with Apple', () => {
  test('ends the sessions of a revoked consent, and keeps the account', async ({ gateway, keys, installed }) => {
    const { handler } = start(keys.url);
    const [ada, ben] = [await signInWithApple(gateway), await signInWithApple(gateway)];
    const body = await notification(keys.privateKey, { type: 'consent-revoked', sub: ada.sub });
    for (const _ of ['first', 'repeated']) expect((await handler(post(body))).status).toBe(200);
    expect(await leftOf(installed, ada.session)).toEqual({ accounts: 1, sessions: 0 });
    expect(await leftOf(installed, ben.session)).toEqual({ accounts: 1, sessions: 1 });
  });

  test('deletes an account whose only sign-in was deleted, and no other', async ({ gateway, api, keys, installed }) => {
    const { handler } = start(keys.url);
    for (const type of ['account-deleted', 'account-delete']) {
      const only = await signInWithApple(gateway);
      const { email } = (await signUp(api)).user;
      const both = await signInWithApple(gateway, email);
      for (const { sub } of [only, both, only, { sub: 'of nobody' }]) {
        const body = await notification(keys.privateKey, { type, sub });
        expect((await handler(post(body))).status).toBe(200);
      }
      expect(await leftOf(installed, only.session)).toEqual({ accounts: 0, sessions: 0 });
      expect(await leftOf(installed, both.session)).toEqual({ accounts: 1, sessions: 0 });
      await api.post('/auth/signin').send({ email, password }).expect(200);
    }
  });

  test('notes changes of the hidden address, and unknown events', async ({ gateway, keys, installed }) => {
    const { handler, logged } = start(keys.url);
    const { session, sub } = await signInWithApple(gateway);
    const { email } = session.user;
    for (const type of ['email-disabled', 'email-enabled', 'something-new']) {
      const event = { type, sub, email, is_private_email: 'true' };
      expect((await handler(post(await notification(keys.privateKey, event)))).status).toBe(200);
    }
    expect(logged).toEqual([`email-disabled ${sub}`, `email-enabled ${sub}`, 'unknown event something-new']);
    expect(await leftOf(installed, session)).toEqual({ accounts: 1, sessions: 1 });
  });

  test('rejects what Apple has not signed for the app, and asks for a repetition after a failure', async ({
    gateway,
    keys,
    installed,
  }) => {
    const { session, sub } = await signInWithApple(gateway);
    const event = { type: 'account-deleted', sub };
    const { privateKey: foreign } = await jose.generateKeyPair('RS256');
    const { handler } = start(keys.url);
    const wrong = [
      await notification(foreign, event),
      await notification(keys.privateKey, event, { aud: 'com.example.other' }),
      await notification(keys.privateKey, event, { iss: 'https://example.com' }),
      await notification(keys.privateKey, event, { exp: 1 }),
      await notification(keys.privateKey, event, { events: 'no JSON' }),
      ...[null, {}, { payload: 'rubbish' }, { payload: 5 }, event],
    ];
    for (const body of wrong) expect((await handler(post(body))).status).toBe(401);
    const right = await notification(keys.privateKey, event);
    expect((await start(keys.url, { APPLE_CLIENT_IDS: '' }).handler(post(right))).status).toBe(401);
    const unreachable = `http://127.0.0.1:${await freePort()}`;
    const failing = [start(unreachable), start(keys.url, { SUPABASE_URL: unreachable })];
    for (const { handler: fails } of failing) expect((await fails(post(right))).status).toBe(503);
    expect(await leftOf(installed, session)).toEqual({ accounts: 1, sessions: 1 });
  });
});
