import { z } from 'zod';
import { rejectedPublishableKey, rejectedSecretKey, unanswered } from '../supabase/setup-problems.ts';
import { failed, NotChecked, Problem, reasonOf, throwAll, Warning } from './result.ts';
import { ask, check, type Run } from './run.ts';

export const problemOf = ({ problem, remedy }: { problem: string; remedy: string }) => new Problem(problem, remedy);

export const isLocal = ({ config }: Run) => /^(localhost|127\..*|\[::1\])$/.test(new URL(config.supabase.url).hostname);

export const address = check('SUPABASE_URL', [], async (run) => {
  const { url, publishableKey } = run.config.supabase;
  const remedy = isLocal(run)
    ? 'Start the local Supabase: npm run dev, or npx supabase start. SUPABASE_URL must have its port, which is SUPABASE_PORT or 54321.'
    : 'Copy the project URL from the Connect dialog of the dashboard. A project that is paused there must be restored first.';
  const { status } = await ask(`${url}/auth/v1/health`, { key: publishableKey }).catch((error: unknown) => {
    if (/SSL|before secure TLS connection/.test(reasonOf(error)))
      throw new Problem(
        `${url} does not speak https.`,
        'Write http:// instead of https:// into SUPABASE_URL, or correct its port.',
      );
    return failed(`${url} does not answer`, remedy)(error);
  });
  // The next check reports a 401, because it means that the key is unknown.
  if (status === 200 || status === 401) return `${url} answers.`;
  throw new Problem(`${url} answers ${status}, which no Supabase project does.`, remedy);
});

export const publishableKey = check('SUPABASE_PUBLISHABLE_KEY', [address], async (run) => {
  const { status } = await run.ask('/auth/v1/settings');
  if (status === 200) return 'The project accepts it.';
  throw problemOf(status >= 500 ? unanswered('Auth', status) : rejectedPublishableKey(status));
});

/** Returns the problem of a function that was revoked from the role of the secret key. */
const mayNotExecute = (name: string) =>
  new Problem(
    `The role of the secret key may not execute ${name}.`,
    `Run in the SQL editor: grant execute on function public.${name}, private.${name} to service_role;`,
  );

/** Returns the problem of roles of the API whose right to use the schema private was revoked. */
export const mayNotUsePrivate = (roles: readonly string[]) =>
  new Problem(
    `These roles may not use the schema private: ${roles.join(', ')}. Most calls of the gateway fail.`,
    'Run in the SQL editor: grant usage on schema private to anon, authenticated, service_role;',
  );

/** Returns the problem of a 403 of the data API to the role of the secret key. */
export function deniedTo(body: unknown, name: string): Problem {
  const { message = '' } = (body ?? {}) as { message?: string };
  return message.includes('schema private') ? mayNotUsePrivate(['service_role']) : mayNotExecute(name);
}

export const secretKey = check('SUPABASE_SECRET_KEY', [address], async (run) => {
  const { status, body } = await run.askAsService('/rest/v1/rpc/doctor_report', { body: {} });
  if (status === 200) run.report = body as Run['report'];
  // A missing function is reported by the check of the migrations.
  if (status === 200 || status === 404) return 'The project accepts it.';
  if (status === 406)
    throw new Problem(
      'The data API does not serve the schema public.',
      'Add public to "Exposed schemas" under Project Settings, Data API, in the dashboard.',
    );
  if (status === 403) throw deniedTo(body, 'doctor_report');
  throw problemOf(status >= 500 ? unanswered('The data API', status) : rejectedSecretKey(status));
});

const Settings = z.object({
  external: z.record(z.string(), z.unknown()),
  disable_signup: z.boolean().optional(),
  mailer_autoconfirm: z.boolean().optional(),
  passkeys_enabled: z.boolean().optional(),
  saml_enabled: z.boolean().optional(),
});
/** Providers with which users can sign in through the gateway, and those that have a separate message below. */
const knownProviders = ['email', 'google', 'apple', 'anonymous_users', 'phone'];
const signInPage = 'under Authentication, Sign In / Providers, in the dashboard';

export const signInSettings = check('Sign-in settings', [publishableKey], async (run) => {
  const { data } = Settings.safeParse((await run.ask('/auth/v1/settings')).body);
  if (data === undefined) throw new NotChecked('Auth does not report its settings.');
  const { external } = data;
  const others = Object.keys(external).filter((name) => external[name] === true && !knownProviders.includes(name));
  throwAll([
    data.passkeys_enabled &&
      new Problem(
        'Passkeys are switched on: only the database keeps a thief of an access token from registering one, which would remain a sign-in after the owner has recovered the account.',
        'Switch them off under Authentication, Passkeys, in the dashboard.',
      ),
    data.saml_enabled &&
      new Warning(
        'Single sign-on is switched on: this service rejects its accounts.',
        `Switch off SAML 2.0 ${signInPage}.`,
      ),
    others.length > 0 &&
      new Warning(
        `Other providers are switched on: ${others.join(', ')}. The gateway does not offer them, but they sign in users directly at Auth.`,
        `Switch them off ${signInPage}.`,
      ),
    external['phone'] === true &&
      new Problem(
        'Sign-in by phone is switched on: this service supports only accounts with an e-mail address.',
        `Switch off Phone ${signInPage}.`,
      ),
    data.disable_signup &&
      new Warning(
        'Sign-ups are switched off: only existing users can sign in.',
        `To let new users in, switch on "Allow new users to sign up" ${signInPage}.`,
      ),
    data.mailer_autoconfirm &&
      !isLocal(run) &&
      new Warning(
        '"Confirm email" is switched off: anyone can have an account with the address of another person.',
        `Switch it on ${signInPage}, and set the mail templates as docs/deploy.md says.`,
      ),
  ]);
  return data.mailer_autoconfirm
    ? 'E-mail addresses need no confirmation. Mail templates cannot be checked from here: the one for a forgotten password must contain {{ .Token }}.'
    : 'E-mail addresses are confirmed by mail. Mail templates cannot be checked from here: they must contain {{ .Token }}, the code.';
});

/** Compares the two switches of guests, because one alone opens nothing. */
export const guests = check('Guests', [publishableKey, secretKey], async (run) => {
  const { data } = Settings.safeParse((await run.ask('/auth/v1/settings')).body);
  if (data === undefined || run.report === null) throw new NotChecked('Auth or the database does not report them.');
  const isOnAtAuth = data.external['anonymous_users'] === true;
  const { allows_guests: isAllowed } = run.report;
  if (isOnAtAuth && !isAllowed)
    throw new Problem(
      'Anonymous sign-ins are switched on at Auth, but the database refuses guests: nobody can listen without an account.',
      `Run the snippet allow_guests in the SQL editor, or switch off "Allow anonymous sign-ins" ${signInPage}.`,
    );
  if (isAllowed && !isOnAtAuth)
    throw new Problem(
      'The database allows guests, but anonymous sign-ins are switched off at Auth: nobody can listen without an account.',
      `Switch on "Allow anonymous sign-ins" ${signInPage}, or run the snippet refuse_guests in the SQL editor.`,
    );
  return isAllowed ? 'People can listen without an account.' : 'They are switched off.';
});

/** Signs in to a missing account with the publishable key, because Auth checks the CAPTCHA before the account. */
export const captcha = check('CAPTCHA', [publishableKey], async (run) => {
  if (isLocal(run)) return 'A local project needs none.';
  const { status, body } = await run.ask('/auth/v1/token?grant_type=password', {
    headers: { 'X-Supabase-Api-Version': '2024-01-01' },
    body: { email: `captcha-${run.account.email}`, password: run.account.password },
  });
  const { code } = body as { code?: string };
  if (code === 'captcha_failed') return 'Auth requires one from clients that do not call the gateway.';
  if (code !== 'invalid_credentials') throw new NotChecked(`Auth answers ${status} to a sign-in.`);
  throw new Warning(
    'CAPTCHA protection is switched off: anyone with the publishable key can guess passwords and create accounts directly at Auth.',
    'Switch it on under Authentication, Attack Protection, in the dashboard. Calls through the gateway need none.',
  );
});

/** Maximum difference between clocks. With more, tokens expire too soon or too late. */
const skewToleratedMs = 5_000;

/** Compares a clock with the clock of Supabase. @param readClock returns Unix milliseconds */
export async function compareClocks(run: Run, whose: string, readClock: () => Promise<number> | number) {
  const [{ headers }, other] = await Promise.all([run.ask('/auth/v1/health'), readClock()]);
  const aheadMs = other - Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(aheadMs)) throw new NotChecked(`Supabase or ${whose} sends no Date header.`);
  if (Math.abs(aheadMs) <= skewToleratedMs) return 'It agrees with Supabase on the time.';
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const [direction, effect] = aheadMs > 0 ? ['ahead of', 'soon'] : ['behind', 'late'];
  throw new Problem(
    `The clock of ${whose} is ${seconds} s ${direction} that of Supabase: tokens expire too ${effect}.`,
    'Switch on time synchronisation there: timedatectl set-ntp true.',
  );
}

export const clock = check('Clock', [address], (run) => compareClocks(run, 'this machine', Date.now));
