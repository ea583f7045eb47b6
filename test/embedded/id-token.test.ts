import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { makeIdToken } from '../../dev/identity-provider.ts';
import { exchange, signInWith, test, usersWith } from './identities.ts';
import { atOnce, refresh, signIn } from './sessions.ts';
import { newEmail, password } from './supabase.ts';

// A real project trusts Google and Apple alone, so nothing here can be asked of one.
describe.runIf(inject('stack').embedded)('an ID token', () => {
  test('of somebody new makes a user, with a session like any other', async ({ supabase }) => {
    const email = newEmail();
    const picture = 'https://example.com/ada.png';
    const body = await signInWith(supabase, { email, name: 'Ada', picture, sub: email });
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, refresh_token: expect.any(String) });
    const known = {
      iss: 'https://accounts.google.com',
      sub: email,
      provider_id: email,
      email,
      email_verified: true,
      phone_verified: false,
      name: 'Ada',
      full_name: 'Ada',
      picture,
      avatar_url: picture,
    };
    expect(body.user).toMatchObject({
      email,
      role: 'authenticated',
      email_confirmed_at: expect.any(String),
      app_metadata: { provider: 'google', providers: ['google'] },
      identities: [{ provider: 'google', id: email, identity_data: known, email }],
    });
    expect(body.user.user_metadata).toEqual(known);
    expect(decodeJwt(body.access_token)).toMatchObject({
      iss: `${supabase.url}/auth/v1`,
      sub: body.user.id,
      email,
      app_metadata: { provider: 'google' },
      amr: [{ method: 'oauth' }],
    });
    const user = await supabase.call('/auth/v1/user', { token: body.access_token });
    expect([user.status, user.body.id]).toEqual([200, body.user.id]);
  });

  test('of somebody new makes a customer with name and picture, and says where they came from', async ({
    supabase,
  }) => {
    const picture = 'https://example.com/ada.png';
    const { user } = await signInWith(supabase, { email: newEmail(), name: 'Ada', picture });
    const apple = await signInWith(supabase, { provider: 'apple', email: newEmail() });
    const customers = await supabase.sql`
      select email, full_name, avatar_url, provider, source from public.customers
      where id in (${user.id}, ${apple.user.id}) order by source desc`;
    expect(customers).toEqual([
      { email: user.email, full_name: 'Ada', avatar_url: picture, provider: 'google', source: 'google' },
      { email: apple.user.email, full_name: null, avatar_url: null, provider: 'apple', source: 'apple' },
    ]);
  });

  test('of somebody known signs in the same user, and overwrites what it tells of them', async ({
    supabase,
  }) => {
    const email = newEmail();
    const first = await signInWith(supabase, { email, name: 'Ada', picture: 'https://example.com/1.png' });
    await supabase.sql`
      update auth.users set raw_user_meta_data = raw_user_meta_data || '{"name": "Mine", "colour": "red"}'
      where email = ${email}`;
    const moved = newEmail();
    const sub = first.user.identities[0].id;
    const second = await signInWith(supabase, { sub, email: moved, name: 'Ada Lovelace' });
    expect(second.user).toMatchObject({
      id: first.user.id,
      email,
      user_metadata: {
        name: 'Ada Lovelace',
        full_name: 'Ada Lovelace',
        email: moved,
        avatar_url: 'https://example.com/1.png',
        colour: 'red',
      },
      identities: [{ id: sub, email: moved }],
    });
    expect(await usersWith(supabase, moved)).toHaveLength(0);
  });

  test('of a verified address links to the account that has it', async ({ supabase }) => {
    const { id, email } = await supabase.signUp(newEmail(), { full_name: 'Jo', colour: 'red' });
    const google = await signInWith(supabase, { email: email.toUpperCase(), name: 'Joanna' });
    expect(google.user).toMatchObject({
      id,
      email,
      app_metadata: { provider: 'email', providers: ['email', 'google'] },
      user_metadata: { full_name: 'Joanna', colour: 'red' },
    });
    const apple = await signInWith(supabase, { provider: 'apple', email });
    expect(apple.user.id).toBe(id);
    expect(apple.user.app_metadata.providers).toEqual(['email', 'google', 'apple']);
    expect(apple.user.identities.map(({ provider }: { provider: string }) => provider).sort()).toEqual([
      'apple',
      'email',
      'google',
    ]);
    expect((await signIn(supabase, email)).status).toBe(200);
    const [customer] = await supabase.sql`select full_name, source from public.customers where id = ${id}`;
    expect(customer).toEqual({ full_name: 'Jo', source: 'email' });
  });

  test('of an unverified address links as well where none must be confirmed', async ({ supabase }) => {
    const { id, email } = await supabase.signUp();
    const { user } = await signInWith(supabase, { email, emailVerified: false });
    expect([user.id, user.app_metadata.providers]).toEqual([id, ['email', 'google']]);
  });

  test('that matches two accounts by its address is told apart by nobody', async ({ supabase }) => {
    const email = newEmail();
    const { user } = await signInWith(supabase, { email, sub: randomUUID() });
    const other = await supabase.signUp();
    await supabase.sql`
      insert into auth.identities (id, provider, provider_id, user_id, identity_data)
      values (gen_random_uuid(), 'github', ${randomUUID()}, ${other.id}, ${supabase.sql.json({ email })})`;
    const answer = await exchange(supabase, await makeIdToken({ email, sub: randomUUID() }));
    expect([answer.status, answer.body.code]).toEqual([500, 'unexpected_failure']);
    expect(user.id).not.toBe(other.id);
  });

  test('without an address makes a user without one', async ({ supabase }) => {
    for (const provider of ['google', 'apple'] as const) {
      const { user } = await signInWith(supabase, { provider, sub: randomUUID() });
      expect(user).toMatchObject({ email: '', app_metadata: { provider } });
    }
  });

  test('of a banned user is refused, and changes nothing', async ({ supabase }) => {
    const email = newEmail();
    const { user } = await signInWith(supabase, { email, name: 'Ada' });
    await supabase.sql`update auth.users set banned_until = '2999-01-01' where id = ${user.id}`;
    for (const provider of ['google', 'apple'] as const) {
      const token = await makeIdToken({ provider, email, name: 'Eve' });
      const { status, body } = await exchange(supabase, token, { provider });
      expect([status, body]).toEqual([403, { code: 'user_banned', message: 'User is banned' }]);
    }
    const [row] = await supabase.sql`
      select raw_user_meta_data ->> 'name' as name, raw_app_meta_data -> 'providers' as providers
      from auth.users where id = ${user.id}`;
    expect(row).toEqual({ name: 'Ada', providers: ['google'] });
  });

  test('of a customer whom an admin has locked out is refused', async ({ supabase }) => {
    const email = newEmail();
    const { user } = await signInWith(supabase, { email });
    await supabase.sql`update public.customers set is_active = false where id = ${user.id}`;
    const { status, body } = await exchange(supabase, await makeIdToken({ email }));
    expect([status, body.code]).toEqual([403, 'user_banned']);
  });

  test('of somebody known, exchanged by many at once, gives each a good session', async ({ supabase }) => {
    const email = newEmail();
    const token = await makeIdToken({ email, name: 'Ada' });
    const { user } = await signInWith(supabase, { email, name: 'Ada' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(supabase, token)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.user?.id}`))).toEqual(
      new Set([`200 ${user.id}`]),
    );
    const next = await Promise.all(answers.map(({ body }) => refresh(supabase, body.refresh_token)));
    expect(next.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(next.map(({ body }) => decodeJwt(body.access_token)['session_id']))).toHaveLength(20);
  });

  test('of somebody new, exchanged by three at once, makes one user; Auth fails for the others', async ({
    supabase,
  }) => {
    const email = newEmail();
    const token = await makeIdToken({ email });
    const first = () => exchange(supabase, token);
    const answers = await atOnce(supabase, email, [first, first, first]);
    const failed = [500, 'unexpected_failure', 'Database error saving new user'];
    expect(answers.map(({ status, body }) => [status, body.code, body.message]).sort()).toEqual([
      [200, undefined, undefined],
      failed,
      failed,
    ]);
    expect(await usersWith(supabase, email)).toHaveLength(1);
  });

  test('and another, of two providers at once for one address, end in one user', async ({ supabase }) => {
    const email = newEmail();
    const tokens = await Promise.all(
      (['google', 'apple'] as const).map(async (provider) => ({
        provider,
        token: await makeIdToken({ provider, email }),
      })),
    );
    const signIns = tokens.map((one) => () => exchange(supabase, one.token, { provider: one.provider }));
    const answers = await atOnce(supabase, email, signIns);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 500]);
    const again: unknown[] = [];
    for (const signIn of signIns) again.push((await signIn()).body.user.id);
    expect(again[0]).toBe(again[1]);
    const [row] = await supabase.sql`
      select raw_app_meta_data -> 'providers' as providers from auth.users where email = ${email}`;
    expect(new Set(row?.['providers'])).toEqual(new Set(['google', 'apple']));
  });

  test('gives a session that refreshes and ends like any other', async ({ supabase }) => {
    const body = await signInWith(supabase, { email: newEmail() });
    const next = await refresh(supabase, body.refresh_token);
    expect([next.status, next.body.user.id]).toEqual([200, body.user.id]);
    const claims = decodeJwt(next.body.access_token);
    expect(claims['session_id']).toBe(decodeJwt(body.access_token)['session_id']);
    expect(claims['amr']).toMatchObject([{ method: 'oauth' }]);
    const again = await refresh(supabase, body.refresh_token);
    expect(again.body.refresh_token).toBe(next.body.refresh_token);

    const token = next.body.access_token;
    const out = await supabase.call('/auth/v1/logout?scope=local', { method: 'POST', token });
    expect(out.status).toBe(204);
    expect((await refresh(supabase, next.body.refresh_token)).body.code).toBe('refresh_token_not_found');
    const user = await supabase.call('/auth/v1/user', { token });
    expect([user.status, user.body.code]).toEqual([403, 'session_not_found']);
  });

  test('opens no account by password', async ({ supabase }) => {
    const email = newEmail();
    await signInWith(supabase, { email });
    for (const secret of [password, '']) {
      expect((await signIn(supabase, email, secret)).body.code).toBe('invalid_credentials');
    }
    const signUp = await supabase.call('/auth/v1/signup', { body: { email, password } });
    expect([signUp.status, signUp.body.code]).toEqual([422, 'user_already_exists']);
  });

  test('is what signInWithIdToken of supabase-js hands over', async ({ supabase }) => {
    const client = createClient(supabase.url, supabase.publishableKey, { auth: { persistSession: false } });
    const email = newEmail();
    const token = await makeIdToken({ email, nonce: 'raw' });
    const given = { provider: 'google', token, nonce: 'raw', access_token: 'unused' };
    const { data, error } = await client.auth.signInWithIdToken(given);
    expect(error).toBeNull();
    expect([data.user?.email, data.session?.token_type]).toEqual([email, 'bearer']);
    expect((await client.auth.getUser()).data.user?.id).toBe(data.user?.id);
    const refused = await client.auth.signInWithIdToken({ ...given, nonce: 'wrong' });
    expect([refused.error?.status, refused.error?.message]).toEqual([400, 'Nonces mismatch']);
  });

  test('whose user a trigger refuses leaves nothing', async ({ supabase }) => {
    const email = newEmail();
    await supabase.sql.unsafe(`
      create function public.compat_refuse() returns trigger language plpgsql as $$
      begin
        if new.email = '${email}' then raise exception 'no'; end if;
        return new;
      end $$;
      create trigger compat_refuse after insert on auth.users
        for each row execute function public.compat_refuse();`);
    try {
      const { status, body } = await exchange(supabase, await makeIdToken({ email }));
      expect([status, body.code]).toEqual([500, 'unexpected_failure']);
      expect(await usersWith(supabase, email)).toHaveLength(0);
    } finally {
      await supabase.sql.unsafe('drop function public.compat_refuse() cascade');
    }
  });
});
