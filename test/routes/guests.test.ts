import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { apiAt } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { forge } from '../support/forge.ts';
import { startGateway } from '../support/gateway.ts';
import { allowsGuests, noGuests } from '../support/project.ts';
import { rest } from '../support/rest.ts';
import { test as base, clientWith, issueKey, newUser, password, type Session } from '../support/test.ts';

/** Client of a new guest, with the guest's session. */
type Guest = Awaited<ReturnType<typeof newUser>>;

const test = base.extend<{ guest: Guest }>({
  guest: async ({ api, gateway, skip }, use) => {
    skip(!(await allowsGuests(gateway.url)), noGuests);
    const { data } = (await api.post('/auth/guest').expect(200)).body;
    await use({ ...data, app: clientWith(gateway, data.access_token) });
  },
});

const ofGuest = ({ access_token }: Session) => ({ access_token });
const now = () => Math.floor(Date.now() / 1000);

/** Returns claims of a token of a guest, with these changes. */
const claimsOf = ({ user }: Session, changes: object) => ({
  ...{ sub: user.id, aud: 'authenticated', role: 'authenticated', exp: now() + 3600, is_anonymous: true },
  ...changes,
});

describe('POST /auth/guest', () => {
  test('opens a session that reaches straight at the data API only what a user reaches', async ({ guest, user }) => {
    const { access_token: token, user: own } = guest;
    const { body } = await rest(token, 'GET', 'customers?select=id');
    expect(body).toEqual([{ id: own.id }]);
    const adoption = { guest: own.id, owner: user.user.id };
    expect((await rest(token, 'POST', 'rpc/adopt_guest', adoption)).status).toBe(403);
    for (const change of [{ is_guest: false }, { premium_until: 'infinity' }, { email: 'a@example.com' }])
      expect((await rest(token, 'PATCH', `customers?id=eq.${own.id}`, change)).status).toBe(403);
  });

  test('opens a session of a guest, which refreshes, exports and signs out as that of a user', async ({
    api,
    guest,
    sql,
  }) => {
    expect(guest.user).toEqual({ id: expect.any(String), email: null, is_guest: true });
    const { refresh_token } = guest;
    const refreshed = (await api.post('/auth/refresh').send({ refresh_token }).expect(200)).body.data;
    expect(refreshed.refresh_token).not.toBe(refresh_token);
    const sound_id = await addSound(sql);
    await guest.app.post('/favorites').send({ sound_id }).expect(201);
    await guest.app.post(`/sounds/${sound_id}/play`).expect(200);
    await guest.app.patch('/me/customer').send({ locale: 'de' }).expect(200);
    const { body } = await guest.app.get('/me/export').expect(200);
    expect(body.data).toMatchObject({
      profile: { id: guest.user.id, email: null },
      customer: { locale: 'de', source: null },
      favorites: [{ sound_id }],
      history: [{ sound_id, plays: 1 }],
    });
    await guest.app.post('/auth/signout').expect(200);
    await api.post('/auth/refresh').send({ refresh_token }).expect(401);
  });

  test('rejects a new password of a guest', async ({ guest }) => {
    await guest.app.post('/auth/password').send({ password }).expect(400).expect('X-Error-Reason', 'guest');
  });

  test('deletes a guest in the first 15 minutes of the session', async ({ guest, sql, gateway, skip }) => {
    const amr = [{ method: 'anonymous', timestamp: now() - 16 * 60 }];
    const old = await forge(skip, claimsOf(guest, { amr }));
    await clientWith(gateway, old).delete('/me').expect(401).expect('X-Error-Reason', 'recent_sign_in_required');
    await guest.app.delete('/me').expect(200);
    expect(await sql`select from auth.users where id = ${guest.user.id}`).toHaveLength(0);
  });

  test('returns 429 beyond the limit of new guests for one client', async ({ guest }) => {
    expect(guest.user.email).toBeNull();
    const gateway = await startGateway({ GUEST_LIMIT_PER_HOUR: '2' });
    const api = apiAt(gateway.url);
    for (const status of [200, 200, 429]) await api.post('/auth/guest').expect(status);
    await gateway.close();
  });

  const off = { reason: 'guests_disabled', status: 400 };
  const failure = { code: 'unexpected_failure', message: 'Database error creating anonymous user' };
  base.for([
    ['are off at Auth', 422, { code: 'anonymous_provider_disabled' }, true, off],
    ['are refused while sign-ups are off', 422, { code: 'signup_disabled' }, true, off],
    ['are refused by the database', 500, failure, false, off],
    ['fail at Auth', 500, failure, true, { status: 500 }],
    ['need a CAPTCHA', 400, { code: 'captcha_failed' }, true, { status: 500 }],
  ] as const)('returns the reason when guests %s', async ([, status, answer, guests, expected]) => {
    await withSupabase(
      ({ url }, res) => {
        const isSignUp = url === '/auth/v1/signup';
        res.writeHead(isSignUp ? status : 200, { 'Content-Type': 'application/json' });
        res.end(JSON.stringify(isSignUp ? answer : { settings: {}, guests }));
      },
      async (api) => {
        const { status, headers } = await api.post('/auth/guest');
        expect({ status, reason: headers['x-error-reason'] }).toEqual({ reason: undefined, ...expected });
      },
    );
  });
});

describe('POST /me/guest', () => {
  test('moves what the guest did, deletes the guest, and is 404 afterwards', async ({ api, gateway, guest, sql }) => {
    const user = await newUser(gateway);
    const [liked = '', played = ''] = await addSounds(sql, [{}, {}]);
    await guest.app.post('/favorites').send({ sound_id: liked }).expect(201);
    const key = randomUUID();
    await guest.app.post(`/sounds/${played}/play`).set('Idempotency-Key', key).expect(200);

    await user.app
      .post('/me/guest')
      .send(ofGuest(guest))
      .expect(200, { data: { adopted: true } });
    expect((await user.app.get('/favorites').expect(200)).body.data).toMatchObject([{ sound_id: liked }]);
    expect((await user.app.get('/history').expect(200)).body.data).toMatchObject([{ sound_id: played, plays: 1 }]);
    const again = await user.app.post(`/sounds/${played}/play`).set('Idempotency-Key', key).expect(200);
    expect(again.body.data.play_count).toBe(1);

    const gone = user.app.post('/me/guest').send(ofGuest(guest));
    await gone.expect(404).expect('X-Error-Reason', 'no_such_guest');
    await guest.app.post('/favorites').send({ sound_id: liked }).expect(401);
    await api.post('/auth/refresh').send({ refresh_token: guest.refresh_token }).expect(401);
  });

  test('rejects other callers and other tokens, and then moves nothing', async ({ gateway, guest, sql, skip }) => {
    const [user, other] = [await newUser(gateway), await newUser(gateway)];
    const sound_id = await addSound(sql);
    await guest.app.post('/favorites').send({ sound_id }).expect(201);
    const adopt = (app: typeof user.app, access_token: string) => app.post('/me/guest').send({ access_token });
    const expired = await forge(skip, claimsOf(guest, { exp: now() - 1 }));
    const reason = 'X-Error-Reason';

    for (const { access_token } of [user, other])
      await adopt(user.app, access_token).expect(400).expect('X-Error-Field', 'access_token');
    await adopt(guest.app, guest.access_token).expect(400).expect(reason, 'guest');
    await adopt(user.app, 'rubbish').expect(401).expect(reason, 'guest_token_invalid');
    await adopt(user.app, expired).expect(401).expect(reason, 'guest_token_invalid');
    await adopt(clientWith(gateway, await issueKey(sql, user)), guest.access_token).expect(401);
    expect((await guest.app.get('/favorites').expect(200)).body.data).toMatchObject([{ sound_id }]);
  });

  test('directly at Auth, a guest gets no password', async ({ guest }) => {
    const { apiUrl, publishableKey } = inject('stack');
    const headers = {
      apikey: publishableKey,
      Authorization: `Bearer ${guest.access_token}`,
      'Content-Type': 'application/json',
    };
    const answer = await fetch(`${apiUrl}/auth/v1/user`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ password }),
    });
    expect([422, 500]).toContain(answer.status); // of Auth itself, or of the trigger
  });
});
