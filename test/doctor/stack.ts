import { rm } from 'node:fs/promises';
import type { SigningAlgorithm } from 'local-supabase/api/user-tokens';
import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import { startStack } from 'local-supabase/stack';
import postgres from 'postgres';
import { test as base, expect } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { Result } from '../../src/doctor/check.ts';
import { runChecks } from '../../src/doctor/checks.ts';
import { createRun } from '../../src/doctor/run.ts';
import { fixture } from '../support/fixture.ts';
import { preparedFolder } from '../support/prepared.ts';

/** Separate Supabase of a test file, which tests may break. */
export type DoctorStack = {
  apiUrl: string;
  /** Configuration of a gateway in front of it. */
  environment: {
    SUPABASE_URL: string;
    SUPABASE_PUBLISHABLE_KEY: string;
    SUPABASE_SECRET_KEY: string;
  };
  /** Connection as `postgres`, the role of the SQL editor. */
  sql: postgres.Sql;
  /** Connection with rights that administrators of hosted projects do not have. */
  superuser: postgres.Sql;
  /** Runs the doctor. */
  diagnose: (env?: Record<string, string>, gateway?: string) => Promise<Result[]>;
  /** Counts what the doctor created and did not remove. */
  countLeftovers: () => Promise<unknown>;
};

/** Expected result of `countLeftovers` after a run. */
export const noLeftovers = { users: 0, keys: 0, files: 0 };

/** Returns the names of checks that found a problem. */
export const problemsIn = (results: readonly Result[]) => [
  ...new Set(results.filter(({ status }) => status === 'problem').map(({ check }) => check)),
];

export const resultOf = (results: readonly Result[], name: string) =>
  results.find(({ check }) => check === name);

/** Returns one line per finding, such as "Redis: It cannot be used. Check that …". */
export async function findingsOf(diagnosis: ReturnType<DoctorStack['diagnose']>): Promise<string[]> {
  return (await diagnosis)
    .filter(({ remedy }) => remedy !== undefined)
    .map(
      ({ status, check, detail, remedy }) =>
        `${status === 'warning' ? 'warning in ' : ''}${check}: ${detail} ${remedy}`,
    );
}

async function withOwnStack(signing: SigningAlgorithm, use: (ownStack: DoctorStack) => Promise<void>) {
  const folder = await preparedFolder();
  const stack = await startStack({ dataDir: folder, apiPort: 0, databasePort: 0, durable: false, signing });
  const sql = postgres(stack.databaseUrl, { max: 1, onnotice() {} });
  const superuser = postgres(as(SUPERUSER, stack.databaseUrl), { max: 1, onnotice() {} });
  const environment = {
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
    SUPABASE_SECRET_KEY: stack.secretKey,
    ...(signing === 'HS256' && { SUPABASE_JWT_SECRET: stack.jwtSecret }),
  };
  const countLeftovers: DoctorStack['countLeftovers'] = async () => {
    const [counts] = await superuser`select
      (select count(*) from auth.users)::int as users, (select count(*) from private.api_keys)::int as keys,
      (select count(*) from storage.objects)::int as files`;
    return counts;
  };
  const diagnose: DoctorStack['diagnose'] = async (env = {}, gateway) => {
    const config = loadConfig({ ...environment, ...env });
    const run = createRun(config, gateway === undefined ? null : new URL(gateway));
    const results = await runChecks(run, () => {});
    await run.close();
    if (results.every(({ check }) => check !== 'Clean-up'))
      expect(await countLeftovers()).toEqual(noLeftovers);
    return results;
  };
  await use({ apiUrl: stack.apiUrl, environment, sql, superuser, diagnose, countLeftovers });
  await Promise.all([sql.end(), superuser.end()]);
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Test with a separate Supabase per file. */
export const test = base.extend<{ $file: { ownStack: DoctorStack } }>({
  ownStack: [fixture((use) => withOwnStack('ES256', use)), { scope: 'file' }],
});

/** Test with a project that signs access tokens with its shared secret. */
export const testWithSharedSecret = base.extend<{ $file: { ownStack: DoctorStack } }>({
  ownStack: [fixture((use) => withOwnStack('HS256', use)), { scope: 'file' }],
});
