import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { inOnePacket } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import type { Api } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { until, withSupabase } from '../support/fake-supabase.ts';
import { forge } from '../support/forge.ts';
import { clientWith, issueKey, newUser, password, type Session, signUp, test } from '../support/test.ts';
import { ageSignIn } from './age-sign-in.ts';

const refresh = (api: Api, { refresh_token }: Session) => api.post('/auth/refresh').send({ refresh_token });
const signIn = (api: Api, { user: { email } }: Session) => api.post('/auth/signin').send({ email, password });

const deleteAccount = (app: Api) => app.delete('/me');
let changes = 0;
const changePassword = (app: Api) => app.post('/auth/password').send({ password: `${password}, changed ${++changes}` });

describe('DELETE /me', () => {
  test('ends sessions and keys, and deletes only the account of the caller', async ({ api, gateway, sql }) => {
    const [leaving, staying] = [await newUser(gateway), await newUser(gateway)];
    const sound_id = await addSound(sql);
    await staying.app.post('/favorites').send({ sound_id }).expect(201);
    const partner = clientWith(gateway, await issueKey(sql, leaving));
    await partner.get('/me').expect(200);
    const { access_token } = (await refresh(api, leaving).expect(200)).body.data; // keeps the time of the sign-in
    const app = clientWith(gateway, access_token);
    await deleteAccount(app).expect(200, { data: { ok: true } });

    await refresh(api, leaving).expect(401);
    await signIn(api, leaving).expect(401);
    for (const client of [app, partner]) await client.get('/me').expect(401);
    await deleteAccount(app).expect(401);
    expect(await sql`select from auth.users where id = ${leaving.user.id}`).toHaveLength(0);
    expect((await staying.app.get('/favorites').expect(200)).body.data).toMatchObject([{ sound_id }]);
    await signUp(api, leaving.user.email); // the address can be used again
  });

  test('rejects a session that has ended or whose customer is inactive', async ({ api, gateway, sql }) => {
    const owner = await newUser(gateway);
    const thief = (await signIn(api, owner).expect(200)).body.data;
    await changePassword(owner.app).expect(200);
    await deleteAccount(clientWith(gateway, thief.access_token)).expect(401);
    await sql`update public.customers set is_active = false where id = ${owner.user.id}`;
    await deleteAccount(owner.app).expect(401);
    expect(await sql`select from auth.users where id = ${owner.user.id}`).toHaveLength(1);
  });

  test('simultaneous deletions from two devices check both sessions and delete once', async () => {
    const calls: string[] = [];
    let gatewayUrl = '';
    const areChecked = () => calls.filter((method) => method === 'GET').length >= 2;
    await withSupabase(
      async (req, res) => {
        calls.push(req.method ?? '');
        if (req.method === 'DELETE') {
          await until(areChecked);
          await fetch(new URL('/healthz', gatewayUrl)); // by its answer, the gateway has read those of both checks
        }
        res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      },
      async (_api, { url }) => {
        gatewayUrl = url;
        const devices = await Promise.all(['1', '2'].map((session_id) => token(undefined, { session_id })));
        // Each device sends two requests, and the gateway reads all of them at once.
        const requests = [...devices, ...devices].map(
          (each) => `DELETE /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${each}\r\n\r\n`,
        );
        expect(await inOnePacket(Number(new URL(url).port), requests)).toEqual([200, 200, 200, 200]);
      },
    );
    expect(calls.toSorted()).toEqual(['DELETE', 'GET', 'GET']);
  });
});

describe('a recent sign-in', () => {
  test('DELETE /me and POST /auth/password require one, not only a refresh', async ({ api, gateway, sql }) => {
    const session = await signUp(api);
    await ageSignIn(sql, session.user.id);
    const refreshed = (await refresh(api, session).expect(200)).body.data;
    const again = (await signIn(api, session).expect(200)).body.data;
    for (const request of [changePassword, deleteAccount]) {
      const rejected = await request(clientWith(gateway, refreshed.access_token)).expect(401);
      expect(rejected.get('X-Error-Reason')).toBe('recent_sign_in_required');
      await request(clientWith(gateway, again.access_token)).expect(200);
    }
  });

  test('passwords, mailed codes and ID tokens count as sign-ins', async ({ api, gateway, skip }) => {
    const now = Math.floor(Date.now() / 1000);
    const old = { method: 'password', timestamp: now - 16 * 60 };
    const recent = (method: string) => ({ method, timestamp: now - 14 * 60 });
    const claims = decodeJwt((await signUp(api)).access_token);
    const change = async (amr?: object[]) => changePassword(clientWith(gateway, await forge(skip, { ...claims, amr })));
    for (const amr of [undefined, [old], [recent('totp'), old], [recent('mfa/phone'), old]])
      expect((await change(amr)).get('X-Error-Reason')).toBe('recent_sign_in_required');
    for (const amr of [[recent('password')], [old, recent('otp')], [old, recent('oauth')]])
      expect((await change(amr)).status).toBe(200);
  });
});
