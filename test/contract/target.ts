import { makeIdToken } from 'local-supabase/identity-provider';
import postgres from 'postgres';
import { inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { forgeWith } from '../support/forge.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { newEmail, password, type Session, signUp } from '../support/test.ts';

type Account = { email: string; password: string };

/** Requirements of the contract suite; null where the deployment cannot provide one. */
export type Target = {
  url: string;
  api: Api;
  soundId: string;
  /** The owner's. */
  account: Account;
  signIn: (who: 'owner' | 'other') => Promise<Session>;
  /** Makes an account of its own. */
  newAccount: () => Promise<Session>;
  /** Asks for a code to recover an account, and reads it from the mail. */
  recoveryCode: ((email: string) => Promise<string>) | null;
  idToken: ((provider: 'google' | 'apple') => Promise<string>) | null;
  apiKey: string | null;
  revokedApiKey: string | null;
  /** Makes an access token with these claims, signed as the project signs. */
  forge: ((claims: object) => Promise<string>) | null;
  close: () => Promise<void>;
};

const signInWith =
  (api: Api, accounts: { owner: Account; other: Account }) =>
  async (who: 'owner' | 'other'): Promise<Session> => {
    const { body } = await api.post('/auth/signin').send(accounts[who]).expect(200);
    return body.data;
  };

function forger(forging: 'ES256' | 'HS256' | null, secret: string): Target['forge'] {
  if (forging === null) return null;
  const sub = '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10';
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return (claims) =>
    forgeWith({ forging, secret }, { sub, role: 'authenticated', aud: 'authenticated', exp, ...claims });
}

async function makeAccount(api: Api): Promise<Account> {
  const { user } = await signUp(api);
  return { email: user.email, password };
}

/** The deployment at TEST_BASE_URL, with accounts and keys from the environment; the accounts must be able to sign in. */
async function remoteTarget(url: string): Promise<Target> {
  if (!url.endsWith('/api/v1')) throw new Error(`TEST_BASE_URL must end in /api/v1, and is ${url}.`);
  const api = apiAt(url);
  const { env } = process;
  const account = async (prefix: string) => {
    const [email, secret] = [env[`${prefix}_EMAIL`], env[`${prefix}_PASSWORD`]];
    return email && secret ? { email, password: secret } : await makeAccount(api);
  };
  const [owner, other] = [await account('TEST'), await account('TEST_OTHER')];
  const signIn = signInWith(api, { owner, other });
  const { access_token } = await signIn('owner');
  const list = await api.get('/sounds').query({ limit: 1 }).auth(access_token, bearer).expect(200);
  return {
    url,
    api,
    soundId: list.body.data[0]?.id ?? '',
    account: owner,
    signIn,
    newAccount: () => signUp(api),
    recoveryCode: null,
    idToken: null,
    apiKey: env['TEST_API_KEY'] ?? null,
    revokedApiKey: env['TEST_REVOKED_API_KEY'] ?? null,
    forge: forger(env['TEST_SUPABASE_JWT_SECRET'] ? 'HS256' : null, env['TEST_SUPABASE_JWT_SECRET'] ?? ''),
    close: async () => {},
  };
}

/** A gateway in front of the Supabase of this test run. */
async function localTarget(): Promise<Target> {
  const { databaseUrl, embedded, forging, jwtSecret, mailUrl } = inject('stack');
  const gateway = await startGateway();
  const api = apiAt(gateway.url);
  const [owner, other] = [await makeAccount(api), await makeAccount(api)];
  const sql = postgres(databaseUrl, { max: 1 });
  const issue = async (): Promise<string> => {
    const [row] = await sql`select api_key from admin.create_api_key('Contract suite', ${owner.email})`;
    return row?.['api_key'];
  };
  const [apiKey, revokedApiKey] = [await issue(), await issue()];
  await sql`select admin.revoke_api_key(${revokedApiKey})`;
  const soundId = await addSound(sql);
  await sql.end();
  return {
    url: gateway.url,
    api,
    soundId,
    account: owner,
    signIn: signInWith(api, { owner, other }),
    newAccount: () => signUp(api),
    recoveryCode: mailUrl
      ? async (email) => {
          await api.post('/auth/recover').send({ email }).expect(200);
          return codeSentTo(mailUrl, email);
        }
      : null,
    // A real project trusts Google and Apple alone.
    idToken: embedded ? (provider) => makeIdToken({ provider, email: newEmail() }) : null,
    apiKey,
    revokedApiKey,
    forge: forger(forging, jwtSecret),
    close: gateway.close,
  };
}

export const createTarget = () => {
  const url = process.env['TEST_BASE_URL'];
  return url ? remoteTarget(url.replace(/\/+$/, '')) : localTarget();
};
