import { z } from 'zod';
import type { Check } from './check.ts';
import { codeOf, NotChecked, Problem, reasonOf, throwAll, Warning } from './problem.ts';
import { ask, type Run } from './run.ts';

const keysPage = 'Copy it from Project Settings, API Keys, in the dashboard';

export const isLocal = (url: string) => /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);

export const address: Check = {
  name: 'SUPABASE_URL',
  needs: [],
  async execute({ config }) {
    const { url, publishableKey } = config.supabase;
    const remedy = isLocal(url)
      ? 'Start the local Supabase: npm run dev, or npx supabase start. SUPABASE_URL needs the port that it has there: that of SUPABASE_PORT, 54321 unless you set it.'
      : 'Copy the project URL from the Connect dialog of the dashboard. A project that is paused there must be restored first.';
    const answer = await ask(`${url}/auth/v1/health`, { key: publishableKey }).catch((error: unknown) => {
      if (/^ERR_SSL/.test(codeOf(error)) || /before secure TLS connection/.test(reasonOf(error)))
        throw new Problem(
          `${url} does not speak https.`,
          'Write http:// instead of https:// into SUPABASE_URL, or correct its port.',
          error,
        );
      throw new Problem(`${url} does not answer: ${reasonOf(error)}.`, remedy, error);
    });
    // The next check reports a 401, because it means that the key is unknown.
    if (answer.status === 200 || answer.status === 401) return `${url} answers.`;
    throw new Problem(`${url} answers ${answer.status}, which no Supabase project does.`, remedy);
  },
};

export const publishableKey: Check = {
  name: 'SUPABASE_PUBLISHABLE_KEY',
  needs: [address],
  async execute({ ask, config }) {
    const { status } = await ask('/auth/v1/settings', { key: config.supabase.publishableKey });
    if (status === 200) return 'The project accepts it.';
    throw new Problem(`The project does not accept this publishable key (${status}).`, `${keysPage}.`);
  },
};

export const secretKey: Check = {
  name: 'SUPABASE_SECRET_KEY',
  needs: [address],
  async execute(run) {
    const key = run.config.secrets.supabaseSecretKey;
    const { status, body } = await run.ask('/rest/v1/rpc/doctor_report', { method: 'POST', key, body: {} });
    if (status === 200) run.report = body as Run['report'];
    // A missing function is reported by the check of the migrations.
    if (status === 200 || status === 404) return 'The project accepts it.';
    if (status === 406)
      throw new Problem(
        'The data API does not serve the schema public.',
        'Add public to "Exposed schemas" under Project Settings, Data API, in the dashboard.',
      );
    throw new Problem(
      `The project does not accept this as a secret key (${status}).`,
      `${keysPage}, under Secret keys; a key that was deleted there no longer works.`,
    );
  },
};

const Settings = z.object({
  external: z.object({ anonymous_users: z.boolean().optional(), phone: z.boolean().optional() }),
  disable_signup: z.boolean().optional(),
  mailer_autoconfirm: z.boolean().optional(),
});
const signInPage = 'under Authentication, Sign In / Providers, in the dashboard';

export const signInSettings: Check = {
  name: 'Sign-in settings',
  needs: [publishableKey],
  async execute({ ask, config }) {
    const { body } = await ask('/auth/v1/settings', { key: config.supabase.publishableKey });
    const settings = Settings.safeParse(body);
    if (!settings.success) throw new NotChecked('Auth does not report its settings.');
    const { external, disable_signup, mailer_autoconfirm } = settings.data;
    throwAll([
      external.anonymous_users &&
        new Problem(
          'Anonymous sign-ins are switched on: anyone with the publishable key can create users, all of whom this service rejects.',
          `Switch off "Allow anonymous sign-ins" ${signInPage}.`,
        ),
      external.phone &&
        new Problem(
          'Sign-in by phone is switched on: this service supports only accounts with an e-mail address.',
          `Switch off Phone ${signInPage}.`,
        ),
      disable_signup &&
        new Warning(
          'Sign-ups are switched off: only existing users can sign in.',
          `To let new users in, switch on "Allow new users to sign up" ${signInPage}.`,
        ),
    ]);
    return mailer_autoconfirm
      ? 'E-mail addresses need no confirmation. Mail templates cannot be checked from here: the one for a forgotten password must contain {{ .Token }}.'
      : 'E-mail addresses are confirmed by mail. Mail templates cannot be checked from here: they must contain {{ .Token }}, the code.';
  },
};

/** Tries to sign in to a missing account with the publishable key, because Auth checks the CAPTCHA before the account. */
export const captcha: Check = {
  name: 'CAPTCHA',
  needs: [publishableKey],
  async execute({ ask, config, account }) {
    if (isLocal(config.supabase.url)) return 'A local project needs none.';
    const { status, body } = await ask('/auth/v1/token?grant_type=password', {
      method: 'POST',
      key: config.supabase.publishableKey,
      headers: { 'X-Supabase-Api-Version': '2024-01-01' },
      body: { email: `captcha-${account.email}`, password: account.password },
    });
    const { code } = body as { code?: string };
    if (code === 'captcha_failed') return 'Auth requires one from clients that do not call the gateway.';
    if (code !== 'invalid_credentials') throw new NotChecked(`Auth answers ${status} to a sign-in.`);
    throw new Warning(
      'CAPTCHA protection is switched off: anyone with the publishable key can guess passwords and create accounts directly at Auth.',
      'Switch it on under Authentication, Attack Protection, in the dashboard. Calls through the gateway need none.',
    );
  },
};

/** Highest difference between clocks. Tokens are rejected to the second, also if they are issued in the future. */
const skewToleratedMs = 5_000;

/** Returns how far a clock is ahead of ours, or null without a Date header. Corrects for whole seconds and the time of the request. */
export function clockAheadMs(date: string | null, askedAt: number): number | null {
  if (date === null) return null;
  const middle = (askedAt + Date.now()) / 2;
  return Date.parse(date) + 500 - middle;
}

export function checkClock(aheadMs: number, whose: string) {
  if (Math.abs(aheadMs) <= skewToleratedMs) return;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  throw new Problem(
    `The clock of ${whose} is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of Supabase: tokens expire too ${aheadMs > 0 ? 'late' : 'soon'}.`,
    `Switch on time synchronisation there: timedatectl set-ntp true.`,
  );
}

export const clock: Check = {
  name: 'Clock',
  needs: [address],
  async execute(run) {
    const askedAt = Date.now();
    const { headers } = await run.ask('/auth/v1/health', { key: run.config.supabase.publishableKey });
    run.clockAheadMs = clockAheadMs(headers.get('date'), askedAt);
    if (run.clockAheadMs === null) return 'Supabase sends no Date header to compare with.';
    checkClock(run.clockAheadMs, 'this machine');
    return 'This machine and Supabase agree on the time.';
  },
};
