import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { rest } from '../support/rest.ts';
import { newUser, password, type Session, test } from '../support/test.ts';

const phone = 'Sounds/1.2 (iPhone)';
const idOf = ({ access_token }: Session) => String(decodeJwt(access_token)['session_id']);

/** Signs in from a device with this User-Agent. */
async function signInFrom(api: Api, { user: { email } }: Session, userAgent: string): Promise<Session> {
  const sent = api.post('/auth/signin').set('User-Agent', userAgent).send({ email, password });
  return (await sent.expect(200)).body.data;
}

const refresh = (api: Api, { refresh_token }: Session) => api.post('/auth/refresh').send({ refresh_token });

/** Returns the sessions in the list of a caller. */
async function sessionsOf(api: Api, { access_token }: Session) {
  const { body } = await api.get('/me/sessions').auth(access_token, bearer).expect(200);
  return body.data as { id: string; user_agent: string; last_used_at: string; created_at: string }[];
}

const idsOf = async (api: Api, session: Session) => new Set((await sessionsOf(api, session)).map(({ id }) => id));

const end = (api: Api, { access_token }: Session, id?: string) =>
  api.delete(`/me/sessions${id ? `/${id}` : ''}`).auth(access_token, bearer);

describe('GET /me/sessions', () => {
  test('lists the devices of the caller, last used first, as they were at sign-in or refresh', async ({
    api,
    gateway,
    sql,
  }) => {
    const first = await newUser(gateway);
    await newUser(gateway);
    const second = await signInFrom(api, first, phone);
    const listed = await sessionsOf(api, first);
    const times = { created_at: expect.stringMatching(/Z$/), last_used_at: expect.stringMatching(/Z$/) };
    expect(listed).toMatchObject([
      { ...times, id: idOf(second), user_agent: phone, is_current: false },
      { id: idOf(first), user_agent: 'sounds-service', is_current: true },
    ]);
    await refresh(api, first).set('User-Agent', 'Sounds/1.3 (iPad)').expect(200);
    const [used, other] = await sessionsOf(api, second);
    expect([used, other]).toMatchObject([
      { id: idOf(first), user_agent: 'Sounds/1.3 (iPad)', is_current: false },
      { id: idOf(second), is_current: true },
    ]);
    expect(Math.abs(Date.parse(used?.last_used_at ?? '') - Date.now())).toBeLessThan(60_000); // in any time zone
    await sql`update auth.sessions set not_after = now() - interval '1 second' where id = ${idOf(first)}`;
    expect(await idsOf(api, second)).toEqual(new Set([idOf(second)]));
    await api.get('/me/sessions').auth(first.access_token, bearer).expect(401);
  });
});

test('lists the present session and the 49 last used ones, and ends all', async ({ api, gateway, sql }) => {
  const mine = await newUser(gateway);
  await sql`
    insert into auth.sessions (id, user_id, created_at, updated_at)
    select gen_random_uuid(), ${mine.user.id}, now() + n * interval '1 second', now() from generate_series(1, 60) as n`;
  const listed = await sessionsOf(api, mine);
  expect(listed).toHaveLength(50);
  expect(listed.at(-1)).toMatchObject({ id: idOf(mine), is_current: true }); // used longest ago
  const times = listed.map(({ last_used_at }) => last_used_at);
  expect(times).toEqual(times.toSorted().toReversed());
  await end(api, mine).expect(200);
  expect(await sql`select id from auth.sessions where user_id = ${mine.user.id}`).toEqual([{ id: idOf(mine) }]);
});

describe('DELETE /me/sessions', () => {
  test('a session that was ended cannot refresh, list or end another', async ({ api, gateway }) => {
    const mine = await newUser(gateway);
    const [thief, spare] = [await signInFrom(api, mine, 'curl/8'), await signInFrom(api, mine, phone)];
    await end(api, mine, idOf(thief)).expect(200, { data: { ok: true } });
    await end(api, mine, idOf(thief)).expect(404);
    await refresh(api, thief).expect(401).expect('X-Error-Reason', 'session_ended');
    for (const id of [undefined, idOf(mine), idOf(thief)])
      await end(api, thief, id).expect(401).expect('X-Error-Reason', 'token_invalid');
    for (const name of ['list_sessions', 'end_sessions'])
      expect((await rest(thief.access_token, 'POST', `rpc/${name}`, {})).status).toBe(401);
    expect(await idsOf(api, mine)).toEqual(new Set([idOf(mine), idOf(spare)]));
    await end(api, mine).expect(200, { data: { ok: true } });
    await end(api, mine).expect(200);
    await refresh(api, spare).expect(401);
    await refresh(api, mine).expect(200);
    await end(api, mine, idOf(mine)).expect(200);
    await api.get('/me/sessions').auth(mine.access_token, bearer).expect(401);
  });

  test('ends only one of two sessions that end each other at the same time', async ({ api, gateway }) => {
    for (let turn = 0; turn < 5; turn++) {
      const first = await newUser(gateway);
      const second = await signInFrom(api, first, phone);
      const both = [first, second] as const;
      const ended = await Promise.all([end(api, first, turn % 2 ? idOf(second) : undefined), end(api, second)]);
      expect(ended.map(({ status }) => status).sort()).toEqual([200, 401]);
      const refreshed = await Promise.all(both.map((session) => refresh(api, session)));
      expect(refreshed.map(({ status }) => status)).toEqual(ended.map(({ status }) => status));
    }
  });
});

test('Auth gets the User-Agent of the app at every sign-in, or the platform of a browser', async () => {
  const seen: (string | undefined)[] = [];
  await withSupabase(
    ({ url, headers }, res) => {
      // The gateway also requests the settings of Auth, if the sign-up was 500 ms ago.
      if (!url?.endsWith('/settings')) seen.push(headers['user-agent']);
      sendSession(res);
    },
    async (api) => {
      const send = (path: string, body: object, userAgent: string) =>
        api.post(`/auth/${path}`).set('User-Agent', userAgent).send(body).expect(200);
      const iPhone = 'iPhone; CPU iPhone OS 19_4 like Mac OS X';
      const credentials = { email: 'ada@example.com', password };
      await send('signup', credentials, phone);
      await send('refresh', { refresh_token: 'x'.repeat(12) }, 'Sounds/12 CFNetwork/1490.0.4 Darwin/23.2.0');
      await send('verify', { type: 'recovery', email: credentials.email, code: '123456' }, 'Dart/3.9 (dart:io)');
      await send('signin', credentials, `Mozilla/5.0 (${iPhone}) AppleWebKit/605.1.15 (KHTML, like Gecko) Sounds/1.2`);
      await send('signin', credentials, 'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2)');
      await send('signin', credentials, 'Sounds/1.2 Chrome/141.0');
      await send('signin', credentials, `S\xe9unds\t1 ${'x'.repeat(300)}`);
      await send('signin', credentials, '\xa0');
      expect(seen).toEqual([
        ...[phone, 'Sounds/12 CFNetwork/1490.0.4 Darwin/23.2.0', 'Dart/3.9 (dart:io)', `Web (${iPhone})`, 'Web', 'Web'],
        ...[`S unds 1 ${'x'.repeat(191)}`, 'sounds-service'],
      ]);
    },
  );
});
