import { decodeJwt } from 'jose';
import { makeIdToken } from 'local-supabase/identity-provider';
import { describe, expect, inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, type Sql } from '../support/test.ts';

const test = testWithConfirmations();
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

type Person = { password: string; full_name: string };

const stranger: Person = { password: 'chosen by a stranger', full_name: 'Mallory' };
const owner: Person = { password: 'chosen by the owner', full_name: 'Ada' };

const signUp = (api: Api, email: string, person: Person) =>
  api
    .post('/auth/signup')
    .send({ email, ...person })
    .expect(200);

const signIn = async (api: Api, email: string, { password }: Person) =>
  (await api.post('/auth/signin').send({ email, password })).status;

const confirm = (api: Api, email: string, code: string, person: Partial<Person> & { password: string }) =>
  api.post('/auth/verify').send({ type: 'signup', email, code, ...person });

/** Lets the pause between two mails to an address pass. A mail may arrive before Auth records its time. */
const passMailGap = (sql: Sql, email: string) =>
  expect
    .poll(async () => {
      const { count } = await sql`
        update auth.users set confirmation_sent_at = confirmation_sent_at - interval '2 minutes'
        where email = ${email} and confirmation_sent_at > now() - interval '1 minute'`;
      return count;
    })
    .toBe(1);

async function recoverySession(api: Api, mailUrl: string, email: string, mails: number) {
  await api.post('/auth/recover').send({ email }).expect(200);
  const code = await codeSentTo(mailUrl, email, mails);
  const { body } = await api.post('/auth/verify').send({ type: 'recovery', email, code }).expect(200);
  return body.data;
}

async function profileOf(api: Api, { access_token }: { access_token: string }) {
  return (await api.get('/me').auth(access_token, bearer).expect(200)).body.data;
}

describe('an account whose address must be confirmed belongs to whoever reads the mail', () => {
  for (const [order, people] of [
    ['a stranger signed up first', [stranger, owner]],
    ['a stranger signed up last', [owner, stranger]],
    ['a stranger signed up alone', [stranger]],
  ] as const) {
    test(`it belongs to its owner when ${order}`, async ({ project: { api, mailUrl }, sql }) => {
      const email = newEmail();
      let code = '';
      for (const [mails, person] of people.entries()) {
        if (mails > 0) await passMailGap(sql, email);
        await signUp(api, email, person);
        code = await codeSentTo(mailUrl, email, mails + 1); // the mail may come after the response
      }
      const { body } = await confirm(api, email, code, owner).expect(200);
      expect(await profileOf(api, body.data)).toMatchObject({ email, full_name: owner.full_name });
      expect(await signIn(api, email, stranger)).toBe(401);
      expect(await signIn(api, email, owner)).toBe(200);
      await api.post('/auth/refresh').send({ refresh_token: body.data.refresh_token }).expect(200);
    });
  }

  test('its tokens have nothing of the stranger in them', async ({ project: { api, mailUrl } }) => {
    for (const named of [owner, { password: owner.password }]) {
      const email = newEmail();
      await signUp(api, email, stranger);
      await confirm(api, email, await codeSentTo(mailUrl, email), named).expect(200);
      const { body } = await api.post('/auth/signin').send({ email, password: owner.password }).expect(200);
      expect(JSON.stringify(decodeJwt(body.data.access_token))).not.toContain(stranger.full_name);
    }
  });

  test('a stranger cannot make its tokens too long', async ({ project: { api, url, mailUrl }, sql }) => {
    const { publishableKey } = inject('stack');
    for (const data of [
      { x: 'a'.repeat(7000) },
      { x: '<'.repeat(2500) },
      { full_name: 'é'.repeat(10_000) },
    ]) {
      const email = newEmail();
      const sent = await fetch(`${url}/auth/v1/signup`, {
        method: 'POST',
        headers: { apikey: publishableKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, password: stranger.password, data }),
      });
      expect(sent.status).toBe(200);
      await codeSentTo(mailUrl, email);
      await passMailGap(sql, email);
      await signUp(api, email, owner);
      const code = await codeSentTo(mailUrl, email, 2);
      const { body } = await confirm(api, email, code, owner).expect(200);
      expect(await profileOf(api, body.data)).toMatchObject({ email, full_name: owner.full_name });
    }
  });

  test('a recovery leaves nothing to the stranger', async ({ project: { api, mailUrl } }) => {
    const email = newEmail();
    await signUp(api, email, stranger);
    const old = await codeSentTo(mailUrl, email);
    const session = await recoverySession(api, mailUrl, email, 2);
    expect(await signIn(api, email, stranger)).toBe(401);
    expect((await profileOf(api, session)).full_name).toBeNull();
    await api
      .post('/auth/password')
      .auth(session.access_token, bearer)
      .send({ password: owner.password })
      .expect(200);
    expect(await signIn(api, email, owner)).toBe(200);
    await confirm(api, email, old, stranger).expect(401);
    expect(await signIn(api, email, stranger)).toBe(401);
  });

  test('two confirmations at once leave it to the owner', async ({ project }) => {
    const { api, url, mailUrl } = project;
    const second = await startGateway({ SUPABASE_URL: url });
    for (const other of [api, apiAt(second.url)]) {
      const email = newEmail();
      await signUp(api, email, stranger);
      const code = await codeSentTo(mailUrl, email);
      const answers = await Promise.all([api, other].map((at) => confirm(at, email, code, owner)));
      expect(answers.map(({ status }) => status)).toContain(200);
      expect(await signIn(api, email, owner)).toBe(200);
      expect(await signIn(api, email, stranger)).toBe(401);
    }
    await second.close();
  });

  test('a lost new password lets only a recovery in', async ({ project: { api, url, mailUrl } }) => {
    const email = newEmail();
    await signUp(api, email, stranger);
    const token = await codeSentTo(mailUrl, email);
    const { secretKey } = inject('stack');
    const used = await fetch(`${url}/auth/v1/verify`, {
      method: 'POST',
      headers: { apikey: secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ type: 'signup', email, token }),
    });
    expect(used.status).toBe(200);
    await confirm(api, email, token, owner).expect(401);
    for (const person of [stranger, owner]) expect(await signIn(api, email, person)).toBe(401);
    const session = await recoverySession(api, mailUrl, email, 2);
    await api
      .post('/auth/password')
      .auth(session.access_token, bearer)
      .send({ password: owner.password })
      .expect(200);
    expect(await signIn(api, email, owner)).toBe(200);
  });
});

/** Signs in with a provider that has verified the address. @returns the customer record */
async function recordOf(api: Api, options: Parameters<typeof makeIdToken>[0]) {
  const session = await api
    .post('/auth/oauth/idp')
    .send({ id_token: await makeIdToken(options) })
    .expect(200);
  const customer = await api.get('/me/customer').auth(session.body.data.access_token, bearer).expect(200);
  return customer.body.data;
}

// A real project trusts Google and Apple alone.
describe.runIf(inject('stack').embedded)('an identity provider that vouches for an address', () => {
  test('takes an unconfirmed account over, with its name for it', async ({ project: { api, mailUrl } }) => {
    for (const [options, expected] of [
      [
        { provider: 'google', name: 'Grace', picture: 'https://a.example/grace.jpg' },
        { full_name: 'Grace', avatar_url: 'https://a.example/grace.jpg', source: 'google' },
      ],
      [{ provider: 'apple' }, { full_name: null, avatar_url: null, source: 'apple' }],
    ] as const) {
      const email = newEmail();
      await signUp(api, email, stranger);
      const code = await codeSentTo(mailUrl, email);
      const { provider } = options;
      expect(await recordOf(api, { email, ...options })).toMatchObject({ email, provider, ...expected });
      expect(await signIn(api, email, stranger)).toBe(401);
      await confirm(api, email, code, stranger).expect(401);
      expect(await signIn(api, email, stranger)).toBe(401);
    }
  });

  test('an unverified ID token leaves no way in', async ({ project: { api, mailUrl }, sql }) => {
    const email = newEmail();
    const google = { provider: 'google', sub: newEmail(), email, name: stranger.full_name } as const;
    const unverified = async () => ({
      id_token: await makeIdToken({ ...google, emailVerified: false }),
    });
    await api
      .post('/auth/oauth/idp')
      .send(await unverified())
      .expect(401);
    await passMailGap(sql, email);
    await signUp(api, email, owner);
    const code = await codeSentTo(mailUrl, email);
    const { body } = await confirm(api, email, code, { password: owner.password }).expect(200);
    expect((await profileOf(api, body.data)).full_name).toBeNull();
    const again = await api.post('/auth/oauth/idp').send(await unverified());
    expect(again.body.data?.user.id).not.toBe(body.data.user.id);
  });

  test('an unverified ID token does not lock out the owner', async ({ project: { api, mailUrl } }) => {
    const email = newEmail();
    await signUp(api, email, owner);
    await confirm(api, email, await codeSentTo(mailUrl, email), owner).expect(200);
    const strangers = { provider: 'google', sub: newEmail(), email } as const;
    for (let attempt = 0; attempt < 2; attempt++) {
      const id_token = await makeIdToken({ ...strangers, emailVerified: false });
      await api.post('/auth/oauth/idp').send({ id_token }).expect(401);
    }
    const { id } = await recordOf(api, { email, sub: newEmail() });
    const { body } = await api.post('/auth/signin').send({ email, password: owner.password }).expect(200);
    expect(id).toBe(body.data.user.id);
  });
});
