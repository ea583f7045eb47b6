import { expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { ban, claimsOf, codeOf, password, type Supabase, signIn, test } from './supabase.ts';

const used = '400 refresh_token_already_used';

const refresh = (supabase: Supabase, refresh_token: string) =>
  supabase.call('/auth/v1/token?grant_type=refresh_token', { body: { refresh_token } });

const nextOf = async (supabase: Supabase, token: string): Promise<string> =>
  (await refresh(supabase, token)).body.refresh_token;

const signOut = (supabase: Supabase, token: string) =>
  supabase.call('/auth/v1/logout?scope=local', { method: 'POST', token });

/** Sets back the last use of all tokens of a user by a number of seconds. */
const age = ({ sql }: Supabase, id: string, seconds: number) => sql`
  update auth.refresh_tokens set updated_at = updated_at - make_interval(secs => ${seconds}) where user_id = ${id}`;

test('simultaneous and later uses of the previous token return the current token', async ({ supabase }) => {
  const { id, refreshToken: first, accessToken } = await supabase.signUp();
  const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(supabase, first)));
  const [second, ...others] = new Set(answers.map(({ body }) => body.refresh_token as string));
  expect(others).toEqual([]);
  expect(second).not.toBe(first);
  const sessions = [...answers, await refresh(supabase, first)].map(({ body }) => body.access_token);
  expect(new Set(sessions.map((token) => claimsOf(token).session_id))).toEqual(
    new Set([claimsOf(accessToken).session_id]),
  );
  const third = await nextOf(supabase, second ?? '');
  // An older token is exchanged within 10 s after its use.
  await age(supabase, id, -60); // so that a slow machine does not exceed the 10 s
  expect([undefined, first, second, third]).not.toContain(await nextOf(supabase, first));
});

test('an older token ends its session after 10 s, unless the current one is used within 10 s', async ({ supabase }) => {
  const { id, refreshToken: first } = await supabase.signUp();
  const second = await nextOf(supabase, first);
  const third = await nextOf(supabase, second);
  await age(supabase, id, 60);
  expect(await codeOf(refresh(supabase, first))).toBe(used);
  const fourth = await nextOf(supabase, third);
  const fifth = await nextOf(supabase, fourth);
  await age(supabase, id, 60);
  expect(await codeOf(refresh(supabase, first))).toBe(used);
  await age(supabase, id, 11);
  for (const token of [fifth, second, first]) expect(await codeOf(refresh(supabase, token))).toBe(used);
});

test('a sign-in and a refresh store their User-Agent with the session', async ({ supabase }) => {
  const { id, email } = await supabase.signUp();
  await supabase.sql`delete from auth.sessions where user_id = ${id}`;
  const stored = async () => (await supabase.sql`select user_agent from auth.sessions where user_id = ${id}`)[0];
  const from = (grant: string, body: object, agent: string) =>
    supabase.call(`/auth/v1/token?grant_type=${grant}`, { body, headers: { 'User-Agent': agent } });
  const { refresh_token } = (await from('password', { email, password }, 'Sounds/1.2 (iPhone)')).body;
  expect(await stored()).toEqual({ user_agent: 'Sounds/1.2 (iPhone)' });
  await from('refresh_token', { refresh_token }, 'Sounds/1.3');
  expect(await stored()).toEqual({ user_agent: 'Sounds/1.3' });
});

test('a refresh token is rejected if it is malformed or unknown, or its user is banned', async ({ supabase }) => {
  const [banned, signedOut] = [await supabase.signUp(), await supabase.signUp()];
  await ban(supabase, banned.id);
  await supabase.sql`delete from auth.sessions where user_id = ${signedOut.id}`;
  for (const [token, expected] of [
    [banned.refreshToken, '400 user_banned'],
    [signedOut.refreshToken, '400 refresh_token_not_found'],
    ['abcdefghijkl', '400 refresh_token_not_found'],
    ['nonsense', '400 validation_failed'],
  ] as const)
    expect(await codeOf(refresh(supabase, token))).toBe(expected);
});

test('Auth rejects a token that is forged, expired, unsigned or of an inactive user', async ({ supabase, skip }) => {
  const { id, email, accessToken } = await supabase.signUp();
  const claims = claimsOf(accessToken);
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${accessToken.split('.')[1]}.`;
  const { access_token: ended } = (await signIn(supabase, email)).body;
  await signOut(supabase, ended);
  const changePassword = (token: string) =>
    supabase.call('/auth/v1/user', { method: 'PUT', token, body: { password: 'another one' } });
  for (const [token, expected] of [
    [`${accessToken.slice(0, -4)}AAAA`, '403 bad_jwt'],
    [unsigned, '403 bad_jwt'],
    [await forge(skip, { ...claims, exp: claims.iat - 1 }), '403 bad_jwt'],
    [await forge(skip, { ...claims, sub: crypto.randomUUID() }), '403 user_not_found'],
    [await forge(skip, { ...claims, sub: 'nobody' }), '400 bad_jwt'],
    [ended, '403 session_not_found'],
  ] as const)
    for (const call of [supabase.call('/auth/v1/user', { token }), signOut(supabase, token), changePassword(token)])
      expect(await codeOf(call), token).toBe(expected);
  await ban(supabase, id);
  expect(await codeOf(supabase.call('/auth/v1/user', { token: accessToken }))).toBe('403 user_banned');
  expect(await codeOf(changePassword(accessToken))).toBe('403 user_banned');
});
