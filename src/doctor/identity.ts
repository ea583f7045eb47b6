import { decodeJwt, decodeProtectedHeader } from 'jose';
import { ApiError } from '../errors.ts';
import { maxTokenLength } from '../supabase/access-token.ts';
import { migrations } from './database.ts';
import { deniedTo, isLocal, secretKey } from './project.ts';
import { NotChecked, Problem, reasonOf, Warning } from './result.ts';
import { check, forwardedAddress, type Run } from './run.ts';

export async function callAsService(run: Run, name: string, body: object): Promise<unknown> {
  const answer = await run.askAsService(`/rest/v1/rpc/${name}`, { body });
  if (answer.status < 300) return answer.body;
  if (answer.status === 403) throw deniedTo(answer.body, name);
  throw new Problem(
    `The database answered ${answer.status} to ${name}.`,
    'Look at Logs, Postgres, in the dashboard; a migration that was changed by hand must be applied again.',
  );
}

/** Remedy that drops the function of a foreign trigger, because the role `postgres` may not drop the trigger itself. */
const foreignTriggers =
  "Find it in the SQL editor: select tgname, tgfoid::regprocedure from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal and tgname not like 'sounds_service_%'; " +
  'To remove it, run: drop function <tgfoid> cascade;';

export const account = check('Accounts', [secretKey], async (run) => {
  const { email, password } = run.account;
  const user = { email, password, email_confirm: true };
  const { status, body } = await run.askAsService('/auth/v1/admin/users', { body: user });
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
    const removed = await run.askAsService(`/auth/v1/admin/users/${id}`, { method: 'DELETE' });
    if (removed.status !== 200) throw new Error(`Auth answered ${removed.status}`);
  });
  return 'A temporary account was created.';
});

const jwtPage = 'Project Settings, JWT Keys, in the dashboard';

const isSharedSecret = (token: string) => decodeProtectedHeader(token).alg === 'HS256';

/** Returns the fix for a token that cannot be verified. It depends on the algorithm of the signature. */
function unverifiable(token: string, secretIsSet: boolean): string {
  if (!isSharedSecret(token))
    return `The project publishes no key for it. After a rotation wait 20 minutes; otherwise see ${jwtPage}.`;
  return secretIsSet
    ? `SUPABASE_JWT_SECRET is not the secret of this project: copy it from ${jwtPage}, Legacy JWT Secret.`
    : `The project signs with its shared secret: set SUPABASE_JWT_SECRET to it, or change to signing keys. Both are in ${jwtPage}.`;
}

/** Asks Auth why the temporary account cannot sign in, because the gateway does not pass the reason on. */
async function remedyOfSignIn(run: Run): Promise<string> {
  const { email, password } = run.account;
  const headers = { 'X-Supabase-Api-Version': '2024-01-01' };
  const path = '/auth/v1/token?grant_type=password';
  const { body } = await run.askAsService(path, { headers, body: { email, password } });
  switch ((body as { code?: unknown } | null)?.code) {
    case 'email_provider_disabled':
      return 'Switch on Email under Authentication, Sign In / Providers, in the dashboard.';
    case 'invalid_credentials':
      return `A trigger on auth.users changes the password of new accounts: switch on those of "Triggers" above. ${foreignTriggers}`;
    default:
      return 'A custom access token hook may fail: look at Logs, Auth, and at Authentication, Hooks, in the dashboard.';
  }
}

/** Returns the problem of a token that Auth signed, but whose claims the gateway rejects. */
function problemOfClaims(token: string): Problem | undefined {
  const hooks = 'the custom access token hook under Authentication, Hooks, in the dashboard';
  const { aud, role } = decodeJwt(token);
  if (token.length > maxTokenLength)
    return new Problem(
      `A token of the project has ${token.length} characters. The gateway accepts ${maxTokenLength}.`,
      `Let ${hooks}, add fewer claims.`,
    );
  if (aud !== 'authenticated')
    return new Problem(
      `A token of the project has the audience ${JSON.stringify(aud)} instead of "authenticated".`,
      `Let ${hooks}, keep the claim aud.`,
    );
  if (role !== 'authenticated')
    return new Problem(
      `A token of the project has the role ${JSON.stringify(role)} instead of "authenticated".`,
      `Let ${hooks}, keep the claim role, and add a claim of another name.`,
    );
  return undefined;
}

export const accessToken = check('Access tokens', [account], async (run) => {
  const { email, password } = run.account;
  const { access_token } = await run.auth
    .signIn({ email, password }, forwardedAddress)
    .catch(async (error: unknown) => {
      const problem = 'The temporary account cannot sign in with its password';
      throw new Problem(`${problem}: ${reasonOf(error)}.`, await remedyOfSignIn(run));
    });
  await run.verify(access_token).catch((error: unknown) => {
    const areKeysMissing = error instanceof ApiError && error.code === 'server_error';
    throw (
      problemOfClaims(access_token) ??
      new Problem(
        `A token of the project cannot be verified: ${reasonOf(error)}.`,
        areKeysMissing
          ? 'Look at /auth/v1/.well-known/jwks.json of the project.'
          : unverifiable(access_token, run.config.secrets.supabaseJwtSecret !== null),
      )
    );
  });
  run.token = access_token;
  return `A real token was verified (${decodeProtectedHeader(access_token).alg}).`;
});

export const sharedSecret = check('SUPABASE_JWT_SECRET', [accessToken], ({ config, token }) => {
  if (isSharedSecret(token)) return 'The project signs with it.';
  if (config.secrets.supabaseJwtSecret === null)
    return 'It is not set, and the project signs with keys that it publishes.';
  throw new Problem(
    'It is set, but the project signs with published keys. A leaked secret can forge the tokens of any user.',
    'Remove SUPABASE_JWT_SECRET from the environment of the gateways. After a rotation, wait an hour first, until the tokens that it signed have expired.',
  );
});

/** Checks that no second factor can be enrolled, because a stolen session could lock its owner out with one. */
export const multiFactor = check('Multi-factor sign-in', [accessToken], async (run) => {
  const body = { factor_type: 'totp', friendly_name: 'npm run doctor' };
  const { status } = await run.ask('/auth/v1/factors', { token: run.token, body });
  const remedy = 'Switch off every factor under Authentication, Multi-Factor, in the dashboard.';
  if (status < 300)
    throw new Problem(
      'A thief of an access token can enrol a second factor, which locks out the owner, because this service does not support one.',
      remedy,
    );
  // Auth answers 4xx if factors are switched off. Local projects cannot switch them off.
  if (status >= 500 && !isLocal(run))
    throw new Warning('It is switched on at Auth, and only the database rejects it.', remedy);
  return 'No factor can be enrolled.';
});

/** Returns the client addresses that Auth recorded for the temporary account, oldest first. */
export async function sessionAddresses(run: Run) {
  const addresses = await callAsService(run, 'doctor_session_addresses', { account: run.account.id });
  return addresses as (string | null)[];
}

export const addressForwarding = check('IP address forwarding', [migrations, accessToken], async (run) => {
  const [noted] = await sessionAddresses(run);
  if (noted === forwardedAddress) return "Auth applies its limits to the app user's address.";
  if (isLocal(run)) throw new NotChecked('A local stack does not forward addresses.');
  throw new Problem(
    'Auth mistakes the gateway for the client: all app users share one sign-in limit.',
    'Switch on IP address forwarding under Authentication, Rate Limits, in the dashboard, and use a secret key that begins with sb_secret_.',
  );
});
