import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLIC_SIGNING_KEY } from 'local-supabase/keys';
import postgres from 'postgres';

/** The Supabase that the tests run against. */
export type TestStack = {
  apiUrl: string;
  /** Address of the mailbox; empty if it is not given. */
  mailUrl: string;
  /** Auth of the same project, but one that has new addresses confirmed; empty when that was not said. */
  confirmingUrl: string;
  databaseUrl: string;
  publishableKey: string;
  secretKey: string;
  /** Empty unless it is known, and the gateway needs it. */
  jwtSecret: string;
  /** Algorithm with which the tests can sign access tokens for the project; null if they cannot. */
  forging: 'ES256' | 'HS256' | null;
  /** False when the tests were pointed at a stack that somebody else runs. */
  embedded: boolean;
};

/** A project that somebody else runs, as the environment describes it. */
export type GivenStack = Omit<TestStack, 'forging' | 'embedded'>;

type Settings = { disable_signup?: boolean; mailer_autoconfirm?: boolean; external?: { email?: boolean } };

// Auth lets 30 pass at once, whatever its limit is, and then as many in a second as the limit allows: 100 of those that the tests
// need, one in ten seconds of those that a new project has.
const [ROUNDS, CALLS_EACH, PAUSE_MS] = [6, 10, 200];

/**
 * Returns how the tests can sign access tokens: with the fixed key pair of local stacks, if the project publishes it, or
 * with the secret, if it is given.
 */
export async function forgingAt({ apiUrl, jwtSecret }: GivenStack): Promise<TestStack['forging']> {
  const keys = await publishedKeys(apiUrl);
  if (keys.some(({ kid }) => kid === PUBLIC_SIGNING_KEY.kid)) return 'ES256';
  return jwtSecret === '' ? null : 'HS256';
}

async function publishedKeys(apiUrl: string): Promise<{ kid?: string }[]> {
  const response = await fetch(`${apiUrl}/auth/v1/.well-known/jwks.json`);
  const { keys = [] } = (await response.json()) as { keys?: { kid?: string }[] };
  return keys;
}

/**
 * Makes sure that the tests can run on a project, which each of them would otherwise find out by itself.
 * @throws an Error that says in one sentence what has to be changed there
 */
export async function requireSuitable(stack: GivenStack): Promise<void> {
  const auth = (path: string, init?: RequestInit) =>
    fetch(`${stack.apiUrl}/auth/v1/${path}`, { ...init, headers: { apikey: stack.publishableKey } });
  const answer = await auth('settings').catch((error: Error) => {
    throw new Error(`Nothing answers at TEST_SUPABASE_URL, ${stack.apiUrl}.`, { cause: error });
  });
  if (answer.status !== 200)
    throw new Error(`Auth answers ${answer.status}: check TEST_SUPABASE_PUBLISHABLE_KEY.`);
  const settings = (await answer.json()) as Settings;
  if (settings.disable_signup || !settings.external?.email)
    throw new Error('The tests sign up with e-mail and password: switch on sign-ups and the provider Email.');
  if (!settings.mailer_autoconfirm)
    throw new Error('The tests cannot read mails: switch off Confirm email under the provider Email.');
  if (stack.jwtSecret === '' && (await publishedKeys(stack.apiUrl)).length === 0)
    throw new Error('The project signs with its shared secret: set TEST_SUPABASE_JWT_SECRET to it.');
  await requireMigrations(stack.databaseUrl);
  // Both are rejected, but only after they were counted.
  const counted = {
    'sign-ups': { path: 'signup', body: { email: 'limits@example.com', password: '' } },
    'sign-ins and token refreshes': {
      path: 'token?grant_type=refresh_token',
      body: { refresh_token: 'none' },
    },
  };
  for (const [what, { path, body }] of Object.entries(counted)) {
    const call = () => auth(path, { method: 'POST', body: JSON.stringify(body) });
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(Array.from({ length: CALLS_EACH }, call));
      if (answers.some(({ status }) => status === 429))
        throw new Error(
          `The project limits ${what}: allow 30,000 in 5 minutes under Authentication, Rate Limits.`,
        );
      await sleep(PAUSE_MS);
    }
  }
}

async function requireMigrations(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  try {
    const [row] = await sql`select to_regclass('private.api_keys') is not null as migrated`;
    if (!row?.['migrated'])
      throw new Error('The database of the project lacks the migrations: npx supabase db push applies them.');
  } finally {
    await sql.end();
  }
}
