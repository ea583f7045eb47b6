import { decodeProtectedHeader } from 'jose';
import { apiBase } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import type { Check } from './check.ts';
import { migrations } from './database.ts';
import { NotChecked, Problem, reasonOf, Warning } from './problem.ts';
import { isLocal, secretKey } from './project.ts';
import { askApi, forwardedAddress, type Run } from './run.ts';

/** Calls a function that the service alone may call. */
async function asService(run: Run, name: string, body: object): Promise<unknown> {
  const key = run.config.secrets.supabaseSecretKey;
  const answer = await run.ask(`/rest/v1/rpc/${name}`, { method: 'POST', key, body });
  if (answer.status < 300) return answer.body;
  throw new Problem(
    `The database answered ${answer.status} to ${name}.`,
    'Look at Logs, Postgres, in the dashboard; a migration that was changed by hand must be applied again.',
  );
}

/** The role `postgres` may drop the function of such a trigger, but not the trigger. */
const foreignTriggers =
  "Find it in the SQL editor: select tgname, tgfoid::regprocedure from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal and tgname not like 'sounds_service_%'; " +
  'To remove it, run: drop function <tgfoid> cascade;';

export const account: Check = {
  name: 'Accounts',
  needs: [secretKey],
  async execute(run) {
    const { email, password } = run.account;
    const key = run.config.secrets.supabaseSecretKey;
    const { status, body } = await run.ask('/auth/v1/admin/users', {
      method: 'POST',
      key,
      body: { email, password, email_confirm: true },
    });
    if (status !== 200)
      throw new Problem(
        `No account could be created (${status}).`,
        status >= 500
          ? `A trigger on auth.users fails: look at Logs, Postgres, in the dashboard for its error. ${foreignTriggers}`
          : 'Look at Logs, Auth, in the dashboard.',
      );
    const { id } = body as { id: string };
    run.account.id = id;
    run.defer(`the account ${email}`, async () => {
      const removed = await run.ask(`/auth/v1/admin/users/${id}`, { method: 'DELETE', key });
      if (removed.status !== 200) throw new Error(`Auth answered ${removed.status}`);
    });
    return 'A temporary account was created.';
  },
};

const jwtPage = 'Project Settings, JWT Keys, in the dashboard';

/** Returns the fix for a token that cannot be verified. It depends on the algorithm of the signature. */
function unverifiable(token: string, secretIsSet: boolean): string {
  const { alg } = decodeProtectedHeader(token);
  if (alg !== 'HS256')
    return `The project publishes no key for it. After a rotation wait 20 minutes; otherwise see ${jwtPage}.`;
  return secretIsSet
    ? `SUPABASE_JWT_SECRET is not the secret of this project: copy it from ${jwtPage}, Legacy JWT Secret.`
    : `The project signs with its shared secret: set SUPABASE_JWT_SECRET to it, or change to signing keys. Both are in ${jwtPage}.`;
}

export const accessToken: Check = {
  name: 'Access tokens',
  needs: [account],
  async execute(run) {
    const { email, password } = run.account;
    const session = await run.auth.signIn({ email, password }, forwardedAddress).catch((error: unknown) => {
      throw new Problem(
        `The temporary account cannot sign in with its password: ${reasonOf(error)}.`,
        'Switch on Email under Authentication, Sign In / Providers, in the dashboard.',
        error,
      );
    });
    await run.verify(session.access_token).catch((error: unknown) => {
      const secretIsSet = run.config.secrets.supabaseJwtSecret !== null;
      throw new Problem(
        `A token of the project cannot be verified: ${reasonOf(error)}.`,
        error instanceof ApiError && error.code === 'server_error'
          ? 'Look at /auth/v1/.well-known/jwks.json of the project.'
          : unverifiable(session.access_token, secretIsSet),
        error,
      );
    });
    run.token = session.access_token;
    return `A real token was verified (${decodeProtectedHeader(run.token).alg}).`;
  },
};

export const sharedSecret: Check = {
  name: 'SUPABASE_JWT_SECRET',
  needs: [accessToken],
  execute({ config, token }) {
    const isSet = config.secrets.supabaseJwtSecret !== null;
    if (decodeProtectedHeader(token).alg === 'HS256') return 'The project signs with it.';
    if (!isSet) return 'It is not set, and the project signs with keys that it publishes.';
    throw new Problem(
      'It is set, but the project signs with published keys. A leaked secret can forge the tokens of any user.',
      'Remove SUPABASE_JWT_SECRET from the environment of the gateways. After a rotation, wait an hour first, until the tokens that it signed have expired.',
    );
  },
};

/** Checks that no second factor can be enrolled, because a stolen session could lock its owner out with one. */
export const multiFactor: Check = {
  name: 'Multi-factor sign-in',
  needs: [accessToken],
  async execute(run) {
    const headers = { apikey: run.config.supabase.publishableKey, Authorization: `Bearer ${run.token}` };
    const body = { factor_type: 'totp', friendly_name: 'npm run doctor' };
    const { status } = await run.ask('/auth/v1/factors', { method: 'POST', headers, body });
    const remedy = 'Switch off every factor under Authentication, Multi-Factor, in the dashboard.';
    if (status < 300)
      throw new Problem(
        'A thief of an access token can enrol a second factor, which locks out the owner, because this service does not support one.',
        remedy,
      );
    // Auth answers 4xx if factors are switched off. Local projects cannot switch them off.
    if (status >= 500 && !isLocal(run.config.supabase.url))
      throw new Warning('It is switched on at Auth, and only the database rejects it.', remedy);
    return 'No factor can be enrolled.';
  },
};

const isAccepted = async (run: Run, key: string) => (await askApi(run, `${apiBase}/me`, key)).status === 200;

export const apiKeys: Check = {
  name: 'API keys',
  needs: [accessToken],
  async execute(run) {
    const remedy =
      'Apply the migrations (npx supabase db push --remote), then look at Logs, Postgres, in the dashboard.';
    const key = await asService(run, 'doctor_issue_key', { account: run.account.id });
    if (typeof key !== 'string') throw new Problem('No API key could be issued.', remedy);
    if (!(await isAccepted(run, key)))
      throw new Problem('An API key that was just issued is rejected.', remedy);
    await asService(run, 'doctor_revoke_key', { prefix: key.slice(0, 16) });
    if (await isAccepted(run, key)) throw new Problem('A revoked API key is still accepted.', remedy);
    return 'One was issued, used and revoked.';
  },
};

/** Returns the client addresses that Auth recorded for the temporary account, oldest first. */
export async function sessionAddresses(run: Run): Promise<(string | null)[]> {
  return (await asService(run, 'doctor_session_addresses', { account: run.account.id })) as (string | null)[];
}

export const addressForwarding: Check = {
  name: 'IP address forwarding',
  needs: [migrations, accessToken],
  async execute(run) {
    const [noted] = await sessionAddresses(run);
    if (noted === forwardedAddress) return "Auth applies its limits to the app user's address.";
    if (isLocal(run.config.supabase.url)) throw new NotChecked('A local stack does not forward addresses.');
    throw new Problem(
      'Auth mistakes the gateway for the client: all app users share one sign-in limit.',
      'Switch on IP address forwarding under Authentication, Rate Limits, in the dashboard, and use a secret key that begins with sb_secret_.',
    );
  },
};
