import { expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { ban, claimsOf, refresh, signIn, signOut } from './sessions.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

const used = '400 refresh_token_already_used';
const unknown = '400 refresh_token_not_found';

/** Three tokens of one session, each got for the one before. */
async function threeTokens(supabase: Supabase) {
  const { id, refreshToken: first } = await supabase.signUp();
  const second = (await refresh(supabase, first)).body.refresh_token;
  const third = (await refresh(supabase, second)).body.refresh_token;
  return { id, first, second, third };
}

/** Makes the last use of all tokens of a user earlier. */
const age = ({ sql }: Supabase, id: string, seconds: number) => sql`
  update auth.refresh_tokens set updated_at = updated_at - make_interval(secs => ${seconds}) where user_id = ${id}`;

test('a refresh token is exchanged for a new one in the same session', async ({ supabase }) => {
  const user = await supabase.signUp();
  const { status, body } = await refresh(supabase, user.refreshToken);
  expect([status, body.user.id]).toEqual([200, user.id]);
  expect(body.refresh_token).not.toBe(user.refreshToken);
  expect(claimsOf(body.access_token).session_id).toBe(claimsOf(user.accessToken).session_id);
});

test('the previous token returns the current one, any number of times', async ({ supabase }) => {
  const { refreshToken: first } = await supabase.signUp();
  const second = (await refresh(supabase, first)).body.refresh_token;
  for (const _ of [1, 2]) expect((await refresh(supabase, first)).body.refresh_token).toBe(second);
  expect((await refresh(supabase, second)).status).toBe(200);
});

test('an older token is exchanged for another one within 10 s of its use', async ({ supabase }) => {
  const { first, second, third } = await threeTokens(supabase);
  const { status, body } = await refresh(supabase, first);
  expect(status).toBe(200);
  expect([first, second, third]).not.toContain(body.refresh_token);
});

test('an older token is rejected after 10 s, and the current one 10 s later', async ({ supabase }) => {
  const { id, first, second, third } = await threeTokens(supabase);
  await age(supabase, id, 60);
  expect(await codeOf(refresh(supabase, first))).toBe(used);
  await age(supabase, id, 11);
  for (const token of [third, second, first]) expect(await codeOf(refresh(supabase, token))).toBe(used);
});

test('a session goes on whose current token is used within 10 s of a rejected one', async ({ supabase }) => {
  const { id, first, third } = await threeTokens(supabase);
  await age(supabase, id, 60);
  expect(await codeOf(refresh(supabase, first))).toBe(used);
  const next = await refresh(supabase, third);
  expect(next.status).toBe(200);
  expect((await refresh(supabase, next.body.refresh_token)).status).toBe(200);
});

test('ten simultaneous requests exchange a token once', async ({ supabase }) => {
  const { refreshToken } = await supabase.signUp();
  const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(supabase, refreshToken)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.refresh_token}`))).toHaveLength(1);
  expect(answers[0]?.status).toBe(200);
});

test.for([
  ['of a deleted session', unknown],
  ['of a banned user', '400 user_banned'],
  ['nonsense', '400 validation_failed'],
  ['', '400 validation_failed'],
  ['abcdefghijkl', unknown],
] as const)("the refresh token '%s' is rejected", async ([token, expected], { supabase }) => {
  const { id, refreshToken } = await supabase.signUp();
  if (token === 'of a banned user') await ban(supabase, id);
  if (token === 'of a deleted session') await supabase.sql`delete from auth.sessions where user_id = ${id}`;
  expect(await codeOf(refresh(supabase, token.startsWith('of ') ? refreshToken : token))).toBe(expected);
});

test('sign-out ends this session and keeps the other sessions of the user', async ({ supabase }) => {
  const { email, accessToken, refreshToken } = await supabase.signUp();
  const other = await signIn(supabase, email);
  expect((await signOut(supabase, accessToken)).status).toBe(204);
  expect(await codeOf(refresh(supabase, refreshToken))).toBe(unknown);
  expect((await refresh(supabase, other.body.refresh_token)).status).toBe(200);
  expect(await codeOf(signOut(supabase, accessToken))).toBe('403 session_not_found');
});

test('Auth rejects a forged, expired or unsigned token, and one without an active user', async ({
  supabase,
  skip,
}) => {
  const { id, accessToken } = await supabase.signUp();
  const claims = claimsOf(accessToken);
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${accessToken.split('.')[1]}.`;
  const cases = [
    ['nonsense', '403 bad_jwt'],
    [`${accessToken.slice(0, -4)}AAAA`, '403 bad_jwt'],
    [unsigned, '403 bad_jwt'],
    [await forge(skip, { ...claims, exp: claims.iat - 1 }), '403 bad_jwt'],
    [await forge(skip, { ...claims, sub: crypto.randomUUID() }), '403 user_not_found'],
    [await forge(skip, { ...claims, sub: 'nobody' }), '400 bad_jwt'],
  ] as const;
  for (const [token, expected] of cases) {
    expect(await codeOf(supabase.call('/auth/v1/user', { token })), token).toBe(expected);
    expect(await codeOf(signOut(supabase, token)), token).toBe(expected);
  }
  await ban(supabase, id);
  expect(await codeOf(supabase.call('/auth/v1/user', { token: accessToken }))).toBe('403 user_banned');
});
