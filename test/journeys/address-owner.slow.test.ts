import { type IdTokenOptions, makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, type Session, type Sql } from '../support/test.ts';

// supabase/tests/13_confirmed_addresses.test.sql tests the triggers that these tests depend on.

const test = testWithConfirmations();
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

interface Person {
  password: string;
  full_name?: string;
}

const stranger: Person = { password: 'chosen by a stranger', full_name: 'Mallory' };
const owner: Person = { password: 'chosen by the owner', full_name: 'Ada' };

const signUp = (api: Api, email: string, person: Person) =>
  api
    .post('/auth/signup')
    .send({ email, ...person })
    .expect(200);

const signIn = (api: Api, email: string, { password }: Person) => api.post('/auth/signin').send({ email, password });

const confirm = (api: Api, email: string, code: string, person: Person) =>
  api.post('/auth/verify').send({ type: 'signup', email, code, ...person });

const profileOf = async (api: Api, { access_token }: Session) =>
  (await api.get('/me').auth(access_token, bearer).expect(200)).body.data;

/** Ends the pause between two mails to an address. Polls, because a mail may arrive before Auth records its time. */
const passMailGap = (sql: Sql, email: string) =>
  expect
    .poll(async () => {
      const { count } = await sql`
        update auth.users set confirmation_sent_at = confirmation_sent_at - interval '2 minutes'
        where email = ${email} and confirmation_sent_at > now() - interval '1 minute'`;
      return count;
    })
    .toBe(1);

describe('with confirmed addresses', () => {
  test.for([
    ['first', [stranger, owner], owner],
    ['last', [owner, stranger], owner],
    ['alone', [stranger], { password: owner.password }],
  ] as const)(
    'an account belongs to the owner of the address if a stranger signed up %s',
    async ([, people, confirming], { project: { api, mailUrl }, sql }) => {
      const email = newEmail();
      let code = '';
      for (const [mails, person] of people.entries()) {
        if (mails > 0) await passMailGap(sql, email);
        await signUp(api, email, person);
        code = await codeSentTo(mailUrl, email, mails + 1); // the mail may be sent after the response
      }
      const { body } = await confirm(api, email, code, confirming).expect(200);
      const full_name = 'full_name' in confirming ? confirming.full_name : null;
      expect(await profileOf(api, body.data)).toMatchObject({ email, full_name });
      await api.post('/auth/refresh').send({ refresh_token: body.data.refresh_token }).expect(200);
      await signIn(api, email, stranger).expect(401);
      const session = (await signIn(api, email, owner).expect(200)).body.data;
      expect(JSON.stringify(decodeJwt(session.access_token))).not.toContain(stranger.full_name);
    },
  );

  test.for(['was never sent', 'was lost after its code was used'])(
    'only the owner of the address can recover the account if the new password %s',
    async (what, { project: { api, url, mailUrl } }) => {
      const email = newEmail();
      await signUp(api, email, stranger);
      const token = await codeSentTo(mailUrl, email);
      if (what === 'was lost after its code was used') {
        const { secretKey } = inject('stack');
        const headers = { apikey: secretKey, 'Content-Type': 'application/json' };
        const body = JSON.stringify({ type: 'signup', email, token });
        expect((await fetch(`${url}/auth/v1/verify`, { method: 'POST', headers, body })).status).toBe(200);
        await confirm(api, email, token, owner).expect(401);
      }
      for (const person of [stranger, owner]) await signIn(api, email, person).expect(401);
      await api.post('/auth/recover').send({ email }).expect(200);
      const code = await codeSentTo(mailUrl, email, 2);
      const { body } = await api.post('/auth/verify').send({ type: 'recovery', email, code }).expect(200);
      await signIn(api, email, stranger).expect(401);
      expect((await profileOf(api, body.data)).full_name).toBeNull();
      const { password } = owner;
      await api.post('/auth/password').auth(body.data.access_token, bearer).send({ password }).expect(200);
      await signIn(api, email, owner).expect(200);
      await confirm(api, email, token, stranger).expect(401);
      await signIn(api, email, stranger).expect(401);
    },
  );

  test('two simultaneous confirmations give the account to the owner', async ({ project: { api, url, mailUrl } }) => {
    const second = await startGateway({ SUPABASE_URL: url });
    for (const other of [api, apiAt(second.url)]) {
      const email = newEmail();
      await signUp(api, email, stranger);
      const code = await codeSentTo(mailUrl, email);
      const answers = await Promise.all([api, other].map((at) => confirm(at, email, code, owner)));
      expect(answers.map(({ status }) => status)).toContain(200);
      await signIn(api, email, owner).expect(200);
      await signIn(api, email, stranger).expect(401);
    }
    await second.close();
  });
});

// A real project trusts only Google and Apple.
describe.runIf(inject('stack').embedded)('an identity provider', () => {
  const exchange = async (api: Api, options: IdTokenOptions) =>
    api.post('/auth/oauth/idp').send({ id_token: await makeIdToken(options) });

  /** Signs in with a provider that has verified the address. @returns the customer record */
  const recordOf = async (api: Api, options: IdTokenOptions) => {
    const { body } = await exchange(api, options);
    return (await api.get('/me/customer').auth(body.data.access_token, bearer).expect(200)).body.data;
  };

  test.for([
    [
      { provider: 'google', name: 'Grace', picture: 'https://a.example/grace.jpg' },
      { full_name: 'Grace', avatar_url: 'https://a.example/grace.jpg', source: 'google' },
    ],
    [{ provider: 'apple' }, { full_name: null, avatar_url: null, source: 'apple' }],
  ] as const)(
    'takes over an unconfirmed account and sets the name: %o',
    async ([options, expected], { project: { api, mailUrl } }) => {
      const email = newEmail();
      await signUp(api, email, stranger);
      const code = await codeSentTo(mailUrl, email);
      const { provider } = options;
      expect(await recordOf(api, { email, ...options })).toMatchObject({ email, provider, ...expected });
      await signIn(api, email, stranger).expect(401);
      await confirm(api, email, code, stranger).expect(401);
      await signIn(api, email, stranger).expect(401);
    },
  );

  test('an unverified ID token neither opens an account nor locks the owner out', async ({
    project: { api, mailUrl },
    sql,
  }) => {
    const email = newEmail();
    const unverified = () =>
      exchange(api, { provider: 'google', sub: `of ${email}`, email, name: 'Mallory', emailVerified: false });
    expect((await unverified()).get('X-Error-Reason')).toBe('email_not_confirmed');
    await passMailGap(sql, email);
    await signUp(api, email, owner);
    const code = await codeSentTo(mailUrl, email);
    const { body } = await confirm(api, email, code, { password: owner.password }).expect(200);
    expect((await profileOf(api, body.data)).full_name).toBeNull();
    for (let attempt = 0; attempt < 2; attempt++) expect((await unverified()).status).toBe(401);
    expect((await recordOf(api, { email, sub: newEmail() })).id).toBe(body.data.user.id);
    await signIn(api, email, owner).expect(200);
  });
});
