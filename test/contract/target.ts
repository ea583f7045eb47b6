import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import postgres from 'postgres';
import { inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { appleEnv } from '../support/apple.ts';
import { addSound } from '../support/catalogue.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { newEmail, password, type Session, signUp } from '../support/test.ts';

interface Account {
  email: string;
  password: string;
}

/** Deployment and credentials for the contract suite. Null where the deployment does not provide a credential. */
export type Target = Awaited<ReturnType<typeof localTarget>>;

function accountsAt(api: Api, accounts: Record<'owner' | 'other', Account>) {
  const signIn = async (who: 'owner' | 'other') =>
    (await api.post('/auth/signin').send(accounts[who]).expect(200)).body.data as Session;
  /** Returns null if the address of the account must be confirmed first. */
  const newAccount = async () => {
    const session = await signUp(api);
    return session.access_token ? session : null;
  };
  /** Returns null if the deployment has guests switched off. */
  const newGuest = async () => {
    const { body } = await api.get('/config').expect(200);
    if (!body.data.guests) return null;
    return (await api.post('/auth/guest').expect(200)).body.data as Session;
  };
  return { account: accounts.owner, signIn, newAccount, newGuest };
}

async function makeAccount(api: Api): Promise<Account> {
  const { access_token, user } = await signUp(api);
  if (!access_token)
    throw new Error('The deployment confirms addresses. Set TEST_EMAIL and TEST_PASSWORD, and both of TEST_OTHER.');
  return { email: user.email, password };
}

/** Returns the deployment at TEST_BASE_URL, with accounts and keys from the environment. */
async function remoteTarget(url: string): Promise<Target> {
  if (!url.endsWith('/api/v1')) throw new Error(`TEST_BASE_URL is ${url}. It must end in /api/v1.`);
  const api = apiAt(url);
  const { env } = process;
  const account = async (prefix: string) => {
    const [email, secret] = [env[`${prefix}_EMAIL`], env[`${prefix}_PASSWORD`]];
    return email && secret ? { email, password: secret } : await makeAccount(api);
  };
  const accounts = accountsAt(api, { owner: await account('TEST'), other: await account('TEST_OTHER') });
  const { access_token } = await accounts.signIn('owner');
  const list = await api.get('/sounds?limit=1').auth(access_token, bearer).expect(200);
  if (Number(list.headers['x-ratelimit-limit']) < 300)
    throw new Error(
      'Set RATE_LIMIT_PER_MINUTE=300 at the gateways meanwhile, because the suite sends some 200 requests.',
    );
  return {
    url,
    api,
    ...accounts,
    soundId: list.body.data[0]?.id ?? '',
    recoveryCode: null,
    idToken: null,
    appleRevocation: null,
    apiKey: env['TEST_API_KEY'] ?? null,
    revokedApiKey: env['TEST_REVOKED_API_KEY'] ?? null,
    close: async () => {},
  };
}

/** Starts a gateway in front of the Supabase of this test run. */
async function localTarget() {
  const { databaseUrl, embedded, mailUrl } = inject('stack');
  const apple = await startSmallApple();
  const { url, close } = await startGateway(appleEnv(apple), apple.url);
  const api = apiAt(url);
  const accounts = accountsAt(api, { owner: await makeAccount(api), other: await makeAccount(api) });
  const sql = postgres(databaseUrl, { max: 1 });
  const keys = await sql<{ api_key: string }[]>`
    select api_key from generate_series(1, 2) as number, admin.create_api_key('Contract suite ' || number, ${accounts.account.email})`;
  const [apiKey = null, revokedApiKey = null] = keys.map(({ api_key }) => api_key);
  await sql`select admin.revoke_api_key(${revokedApiKey})`;
  const soundId = await addSound(sql);
  await sql.end();
  const recoveryCode = async (email: string) => {
    await api.post('/auth/recover').send({ email }).expect(200);
    return codeSentTo(mailUrl ?? '', email);
  };
  /** Signs in with Apple. Returns a request to revoke the token of this user. */
  const appleRevocation = async () => {
    const email = newEmail();
    const id_token = await makeIdToken({ provider: 'apple', email });
    const { body } = await api.post('/auth/oauth/apple').send({ id_token }).expect(200);
    return { token: String(body.data.access_token), body: { authorization_code: `dev-${email}` } };
  };
  return {
    url,
    api,
    ...accounts,
    soundId,
    recoveryCode: mailUrl ? recoveryCode : null,
    // A real project trusts only Google and Apple.
    idToken: embedded ? (provider: 'google' | 'apple') => makeIdToken({ provider, email: newEmail() }) : null,
    appleRevocation: embedded ? appleRevocation : null,
    apiKey,
    revokedApiKey,
    close: async () => {
      await close();
      apple.close();
    },
  };
}

export const createTarget = () => {
  const url = process.env['TEST_BASE_URL'];
  return url ? remoteTarget(url.replace(/\/+$/, '')) : localTarget();
};
