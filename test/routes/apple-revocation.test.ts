import { createServer } from 'node:http';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { type SmallApple, startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { jwtVerify } from 'jose';
import { describe, expect, inject, onTestFinished, vi } from 'vitest';
import { apiAt } from '../support/api.ts';
import { appleEnv } from '../support/apple.ts';
import { fixture } from '../support/fixture.ts';
import { type Gateway, listen, startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { noteSecret } from '../support/secrets.ts';
import { test as base, clientWith, issueKey, newEmail, newUser, type Session, type Sql } from '../support/test.ts';
import { ageSignIn } from './age-sign-in.ts';

/** Test function with an emulator of Apple, and a gateway that logs all levels and revokes tokens there. */
const test = base.extend<{ $file: { apple: SmallApple; revoking: Gateway } }>({
  apple: [
    fixture(async (use) => {
      const apple = await startSmallApple();
      await use(apple);
      apple.close();
    }),
    { scope: 'file' },
  ],
  revoking: [
    async ({ apple }, use) => {
      const gateway = await startGateway({ ...appleEnv(apple), LOG_LEVEL: 'trace' }, apple.url);
      await use(gateway);
      await gateway.close(); // expects that the log has no recorded secret
    },
    { scope: 'file' },
  ],
});

/** Signs in with Apple. Returns the session, a client with its token, and a code of the user. */
async function appleUser(gateway: Gateway) {
  const email = newEmail();
  const id_token = await makeIdToken({ provider: 'apple', email });
  const { body } = await apiAt(gateway.url).post('/auth/oauth/apple').send({ id_token }).expect(200);
  const session: Session = body.data;
  return { ...session, app: clientWith(gateway, session.access_token), code: codeOf(email) };
}

/** Returns a code of the emulator. Records it and the tokens that it gives, so that no log may contain them. */
function codeOf(email: string): string {
  const code = `dev-${email}`;
  for (const kind of ['', 'refresh-token-of-', 'access-token-of-']) noteSecret(kind + code);
  return code;
}

const revoke = (app: Awaited<ReturnType<typeof appleUser>>['app'], body: object) =>
  app.post('/me/apple/revocation').send(body);

/** Returns the tables of all schemas with a row that contains a text. */
async function tablesWith(sql: Sql, text: string): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select from ${name} as stored where strpos(stored::text, $1) > 0 limit 1`, [text]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

// A real project trusts only tokens of Apple, which tests cannot sign.
describe.runIf(inject('stack').embedded)('POST /me/apple/revocation', () => {
  test('exchanges the code and revokes its token, once each, with a secret of the team', async ({
    apple,
    revoking,
    sql,
  }) => {
    const { app, code, user } = await appleUser(revoking);
    const before = apple.requests.length;
    await revoke(app, { authorization_code: code }).expect(200, { data: { ok: true } });
    const requests = apple.requests.slice(before);
    expect(requests.map(({ path }) => path)).toEqual(['/auth/token', '/auth/revoke']);
    expect([...apple.tokens]).toEqual([]);
    const [exchange, revocation] = requests.map(({ form: { client_secret, ...form } }) => form);
    const client_id = 'com.example.sounds';
    expect(exchange).toEqual({ client_id, code, grant_type: 'authorization_code' });
    expect(revocation).toEqual({ client_id, token: `refresh-token-of-${code}`, token_type_hint: 'refresh_token' });
    for (const { form } of requests) {
      const { payload, protectedHeader } = await jwtVerify(form['client_secret'] ?? '', apple.publicKey);
      expect(protectedHeader).toEqual({ alg: 'ES256', kid: apple.team.keyId });
      const aud = 'https://appleid.apple.com';
      expect(payload).toMatchObject({ iss: apple.team.teamId, sub: client_id, aud });
      const lifetime = (payload.exp ?? Infinity) - (payload.iat ?? 0);
      expect(lifetime).toBeLessThanOrEqual(300);
    }
    expect(await tablesWith(sql, user.email)).toContain('auth.users');
    expect(await tablesWith(sql, code)).toEqual([]); // Apple's tokens contain the code, too
    await app.delete('/me').expect(200);
  });

  test('answers 500 if Apple takes the code, and refuses the revocation', async ({ apple }) => {
    const answers = [
      { status: 400, body: '{"error":"invalid_client"}' },
      { status: 400, body: '{"error":"unsupported_token_type"}' },
      { status: 503, body: '' },
    ];
    const refusing = await startNetwork(apple.url, ({ path }) => (path === '/auth/revoke' ? answers.pop() : undefined));
    const gateway = await startGateway({ ...appleEnv(apple), LOG_LEVEL: 'trace' }, refusing.url);
    const { app, code, user } = await appleUser(gateway);
    for (const n of [0, 1, 2]) {
      gateway.logged.length = 0;
      await revoke(app, { authorization_code: n === 0 ? code : `${codeOf(user.email)}#${n}` }).expect(500);
      expect(gateway.logged.join('')).toMatch(/Apple answered \/auth\/revoke .*APPLE_TEAM_ID, APPLE_KEY_ID/);
    }
    expect([answers, refusing.passed.map(({ path }) => path)]).toEqual([[], Array(3).fill('/auth/token')]);
    await app.delete('/me').expect(200);
    await gateway.close();
    apple.tokens.clear();
  });

  test('passes on the Services ID and redirect URI of a code', async ({ apple, revoking }) => {
    const { app, code } = await appleUser(revoking);
    const given = { client_id: 'com.example.web', redirect_uri: 'https://example.com/apple' };
    await revoke(app, { authorization_code: code, ...given }).expect(200);
    expect(apple.requests.at(-2)?.form).toMatchObject(given);
  });

  test('rejects a used or unknown code, and revokes nothing of another Apple account', async ({ apple, revoking }) => {
    const [ada, ben] = [await appleUser(revoking), await appleUser(revoking)];
    const before = apple.requests.length;
    const wrong = [`${codeOf(ben.user.email)}#2`, `${codeOf(ben.user.email)}#2`, 'c1f2e3.0.nrtw.unknown'];
    for (const authorization_code of wrong) {
      noteSecret(authorization_code);
      const rejected = await revoke(ada.app, { authorization_code }).expect(401);
      expect(rejected.get('X-Error-Reason')).toBe('code_invalid');
    }
    expect(apple.requests.slice(before).map(({ path }) => path)).toEqual(wrong.map(() => '/auth/token'));
    expect([...apple.tokens]).toEqual([`refresh-token-of-${ben.code}#2`]);
    apple.tokens.clear();
  });

  test('sends nothing for an unknown client, without Apple, a recent sign-in or settings', async ({
    apple,
    revoking,
    gateway,
    sql,
  }) => {
    const { app, code, user, refresh_token } = await appleUser(revoking);
    const body = { authorization_code: code };
    const before = apple.requests.length;
    const unknown = await revoke(app, { ...body, client_id: 'com.example.other' }).expect(400);
    expect([unknown.get('X-Error-Reason'), unknown.get('X-Error-Field')]).toEqual(['validation', 'client_id']);
    const withoutApple = await revoke((await newUser(revoking)).app, body).expect(400);
    expect([withoutApple.get('X-Error-Reason'), withoutApple.get('X-Error-Field')]).toEqual(['validation', undefined]);
    const key = await issueKey(sql, await newUser(revoking));
    await revoke(clientWith(revoking, key), body).expect(401);
    const disabled = await revoke((await appleUser(gateway)).app, body).expect(400);
    expect(disabled.get('X-Error-Reason')).toBe('apple_disabled');
    await ageSignIn(sql, user.id);
    const { data } = (await apiAt(revoking.url).post('/auth/refresh').send({ refresh_token }).expect(200)).body;
    const old = await revoke(clientWith(revoking, data.access_token), body).expect(401);
    expect(old.get('X-Error-Reason')).toBe('recent_sign_in_required');
    expect(apple.requests.length).toBe(before);
  });

  test('fails 11 s after its start at an Apple that hangs, though the first call was in time', async ({ apple }) => {
    const slow = await startNetwork(apple.url, ({ path }) => {
      if (path === '/auth/revoke') return new Promise<never>(() => {});
      vi.advanceTimersByTime(9_000);
      return undefined;
    });
    const gateway = await startGateway(appleEnv(apple), slow.url);
    const { app, code } = await appleUser(gateway);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const startedAt = Date.now();
    await revoke(app, { authorization_code: code }).expect(500);
    const tookMs = Date.now() - startedAt;
    expect(tookMs).toBeGreaterThan(1_500); // 2 s without the 9 s that the fake clock advanced
    expect(tookMs).toBeLessThan(6_000);
    expect(gateway.logged.join('')).toMatch(/Apple did not answer \/auth\/revoke.*APPLE_TEAM_ID.*TimeoutError/);
    await app.delete('/me').expect(200);
    await gateway.close();
    apple.tokens.clear();
  });

  test('answers 500 if Apple fails or refuses, and names the settings only in the log', async () => {
    const { team, privateKey, close } = await startSmallApple();
    close();
    const answers: [number, string][] = [
      [500, ''],
      [400, '{"error":"invalid_client"}'],
      [400, '{"error":"unauthorized_client"}'],
      [400, '{"error":"dev-secret-that-is-echoed"}'],
      [200, '{"refresh_token":"refresh-of-apple","id_token":"no-token-of-apple"}'],
      [200, '<html></html>'],
    ];
    for (const secret of ['dev-secret-that-is-echoed', 'refresh-of-apple', 'no-token-of-apple']) noteSecret(secret);
    let [status, text] = [500, ''];
    const failing = await listen(createServer((_req, res) => res.writeHead(status).end(text)));
    const gateway = await startGateway(appleEnv({ team, privateKey }), `http://127.0.0.1:${failing.port}`);
    const { app, code } = await appleUser(gateway);
    for ([status, text] of answers) {
      gateway.logged.length = 0;
      const { headers } = await revoke(app, { authorization_code: code }).expect(500);
      expect(headers['x-error-reason']).toBeUndefined();
      const lines = gateway.logged.filter((line) => line.includes(String(headers['x-request-id'])));
      expect(lines.join('')).toMatch(/Apple answered \/auth\/token .*APPLE_TEAM_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY/);
    }
    await failing.close();
    await revoke(app, { authorization_code: code }).expect(500);
    await app.delete('/me').expect(200);
    await gateway.close();
  });
});
