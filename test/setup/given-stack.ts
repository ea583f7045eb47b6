import { setTimeout as sleep } from 'node:timers/promises';
import { publicSigningKey } from '@sounds-service/local-supabase/keys';
import postgres from 'postgres';

/** Supabase that the tests run against. */
export interface TestStack {
  apiUrl: string;
  /** Address of the mailbox; empty if unknown. */
  mailUrl: string;
  /** URL of an Auth for the same project that requires confirmed e-mail addresses; empty if unknown. */
  confirmingUrl: string;
  databaseUrl: string;
  publishableKey: string;
  secretKey: string;
  /** Shared secret; empty if the gateway does not need it. */
  jwtSecret: string;
  /** Algorithm with which the tests can sign access tokens for the project; null if they cannot. */
  forging: 'ES256' | 'HS256' | null;
  /** False if TEST_SUPABASE_URL names another stack. */
  embedded: boolean;
}

interface Settings {
  disable_signup?: boolean;
  mailer_autoconfirm?: boolean;
  external?: { email?: boolean };
}

// Auth accepts 30 calls at once, then as many per second as its limit allows: 100 with the limits that the tests need,
// 0.1 with those of a new project.
const [rounds, callsEach, pauseMs] = [6, 10, 200];

function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/**
 * Returns the stack that TEST_SUPABASE_URL and related variables name. Checks first that the tests can run on it, so
 * that they do not fail one by one.
 * @throws an Error of one sentence with the necessary change
 */
export async function givenStack(env: NodeJS.ProcessEnv): Promise<TestStack> {
  const given = (name: string) => {
    check(env[name], `Set ${name} along with TEST_SUPABASE_URL.`);
    return env[name];
  };
  const stack = {
    apiUrl: given('TEST_SUPABASE_URL'),
    mailUrl: env['TEST_SUPABASE_MAIL_URL'] ?? '',
    confirmingUrl: env['TEST_SUPABASE_CONFIRMING_URL'] ?? '',
    databaseUrl: given('TEST_SUPABASE_DB_URL'),
    publishableKey: given('TEST_SUPABASE_PUBLISHABLE_KEY'),
    secretKey: given('TEST_SUPABASE_SECRET_KEY'),
    jwtSecret: env['TEST_SUPABASE_JWT_SECRET'] ?? '',
  };
  const { apiUrl, publishableKey, databaseUrl, jwtSecret } = stack;
  const auth = (path: string, init?: RequestInit) =>
    fetch(`${apiUrl}/auth/v1/${path}`, { ...init, headers: { apikey: publishableKey } });

  const answer = await auth('settings').catch((cause: Error) => {
    throw new Error(`Nothing answers at ${apiUrl}. Correct TEST_SUPABASE_URL.`, { cause });
  });
  check(answer.ok, `Auth answers ${answer.status}: check TEST_SUPABASE_PUBLISHABLE_KEY.`);
  const settings = (await answer.json()) as Settings;
  const isOpen = !settings.disable_signup && settings.external?.email;
  check(isOpen, 'The tests sign up with e-mail and password: switch on sign-ups and the provider Email.');
  const confirms = 'The tests cannot read mails: switch off Confirm email under the provider Email.';
  check(settings.mailer_autoconfirm, confirms);

  const { keys = [] } = (await (await auth('.well-known/jwks.json')).json()) as { keys?: { kid?: string }[] };
  check(jwtSecret || keys.length, 'The project signs with its shared secret: set TEST_SUPABASE_JWT_SECRET.');

  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  const [row] = await sql`select to_regclass('private.api_keys') as migrated`.finally(() => sql.end());
  check(row?.['migrated'], 'The database lacks the migrations: npx supabase db push applies them.');

  // Auth rejects both requests, but counts them first.
  for (const [what, path, body] of [
    ['sign-ups', 'signup', { email: 'limits@example.com', password: '' }],
    ['sign-ins and token refreshes', 'token?grant_type=refresh_token', { refresh_token: 'none' }],
  ] as const) {
    const call = () => auth(path, { method: 'POST', body: JSON.stringify(body) });
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: callsEach }, call));
      const advice = 'allow 30,000 in 5 minutes under Authentication, Rate Limits.';
      check(!answers.some(({ status }) => status === 429), `The project limits ${what}: ${advice}`);
      await sleep(pauseMs);
    }
  }
  const publishesOurs = keys.some(({ kid }) => kid === publicSigningKey.kid);
  return { ...stack, forging: publishesOurs ? 'ES256' : jwtSecret === '' ? null : 'HS256', embedded: false };
}
