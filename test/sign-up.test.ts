import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { startApi } from '../dev/api.ts';
import { alone } from './support/fixture.ts';
import { startGateway } from './support/gateway.ts';
import { apiOf, newEmail, password, type Session, test } from './support/test.ts';

type Answer = { data: Session & { needs_email_confirmation?: true } };

/** The same service in front of an Auth that asks for confirmation; it needs the embedded stack. */
const confirming = test.extend<{ $file: { confirmingApi: ReturnType<typeof apiOf> } }>({
  confirmingApi: [
    alone(async (use) => {
      const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-confirming-'));
      const { databaseUrl } = inject('stack');
      const supabase = await startApi({ databaseUrl, storageDir, port: 0, emailConfirmations: true });
      const gateway = await startGateway({ SUPABASE_URL: supabase.url });
      await use(apiOf(gateway));
      await gateway.close();
      await supabase.stop();
      await rm(storageDir, { recursive: true });
    }),
    { scope: 'file' },
  ],
});

describe('POST /auth/signup', () => {
  test('gives a session with exactly the fields of the contract', async ({ api }) => {
    const email = newEmail();
    const { status, body, headers } = await api.post<Answer>('/auth/signup', { body: { email, password } });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      data: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        token_type: 'bearer',
        expires_in: 3600,
        expires_at: decodeJwt(body.data.access_token).exp,
        user: { id: decodeJwt(body.data.access_token).sub, email },
      },
    });
  });

  test('makes the customer, with the name given', async ({ api, sql }) => {
    const body = { email: newEmail(), password, full_name: '  Ada Lovelace  ' };
    const { data } = (await api.post<Answer>('/auth/signup', { body })).body;
    expect(
      await sql`select email, full_name, source from public.customers where id = ${data.user.id}`,
    ).toEqual([{ email: body.email, full_name: 'Ada Lovelace', source: 'email' }]);
  });

  test('an address that has an account is refused with a text that does not say so', async ({ api }) => {
    const { user } = await api.signUp();
    const answer = await api.post<{ error: { message: string } }>('/auth/signup', {
      body: { email: user.email.toUpperCase(), password },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).not.toMatch(/exist|already|taken|registered/i);
  });

  for (const [what, body, field] of [
    ['no e-mail', { password }, 'email'],
    ['no password', { email: newEmail() }, 'password'],
    ['a malformed e-mail', { email: 'not-an-address', password }, 'email'],
    ['an e-mail of 255 characters', { email: `${'a'.repeat(243)}@example.com`, password }, 'email'],
    ['a password of 5 characters', { email: newEmail(), password: '12345' }, 'password'],
    ['a password of 73 bytes', { email: newEmail(), password: `${'é'.repeat(36)}x` }, 'password'],
    ['a password with NUL', { email: newEmail(), password: 'secret\0secret' }, 'password'],
    ['a password that is a number', { email: newEmail(), password: 12345678 }, 'password'],
    ['a blank name', { email: newEmail(), password, full_name: '   ' }, 'full_name'],
    ['a name of 201 characters', { email: newEmail(), password, full_name: 'x'.repeat(201) }, 'full_name'],
    ['a name with a lone surrogate', { email: newEmail(), password, full_name: 'a\ud800' }, 'full_name'],
    ['a name that is null', { email: newEmail(), password, full_name: null }, 'full_name'],
  ] as const) {
    test(`${what} is refused, naming the field`, async ({ api }) => {
      const answer = await api.post<{ error: { message: string } }>('/auth/signup', { body });
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toMatch(new RegExp(`^${field}: `));
    });
  }

  test('a password of 6 characters and one of 72 bytes are accepted and then work, spaces included', async ({
    api,
  }) => {
    for (const secret of [' 1234 ', 'é'.repeat(36)]) {
      const body = { email: newEmail(), password: secret };
      expect((await api.post('/auth/signup', { body })).status).toBe(200);
      expect((await api.post('/auth/signin', { body })).status).toBe(200);
    }
  });

  test('a token that comes along is ignored', async ({ api }) => {
    const answer = await api.post('/auth/signup', {
      token: 'rubbish',
      body: { email: newEmail(), password },
    });
    expect(answer.status).toBe(200);
  });
});

describe.runIf(inject('stack').embedded)('POST /auth/signup where e-mail addresses must be confirmed', () => {
  confirming('no tokens are given, and signing in says what is missing', async ({ confirmingApi }) => {
    const body = { email: newEmail(), password };
    const answer = await confirmingApi.post<Answer>('/auth/signup', { body });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      data: { needs_email_confirmation: true, user: { id: expect.any(String), email: body.email } },
    });
    const signIn = await confirmingApi.post<{ error: { message: string } }>('/auth/signin', { body });
    expect(signIn.status).toBe(401);
    expect(signIn.body.error.message).toBe('Confirm your e-mail address first.');
  });

  confirming('a known address cannot be told from a new one', async ({ confirmingApi, api }) => {
    const { user } = await api.signUp();
    const known = await confirmingApi.post<Answer>('/auth/signup', { body: { email: user.email, password } });
    expect(known.status).toBe(200);
    expect(known.body).toEqual({
      data: { needs_email_confirmation: true, user: { id: expect.any(String), email: user.email } },
    });
    expect(known.body.data.user.id).not.toBe(user.id);
  });
});
