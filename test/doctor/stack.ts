import type postgres from 'postgres';
import { expect, inject } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { runChecks } from '../../src/doctor/checks.ts';
import type { Result } from '../../src/doctor/result.ts';
import { createRun } from '../../src/doctor/run.ts';
import { test as base } from '../support/test.ts';

/** Runs the doctor with these changes of the settings and a gateway at this address. */
export type Diagnose = (env?: Record<string, string>, gateway?: string) => Promise<Result[]>;

/** Returns the names of checks that found a problem. */
export const problemsIn = (results: readonly Result[]) => [
  ...new Set(results.filter(({ status }) => status === 'problem').map(({ check }) => check)),
];

export const resultOf = (results: readonly Result[], name: string) => results.find(({ check }) => check === name);

/** Returns one line per finding, such as "Redis: It cannot be used. Check that …". */
export async function findingsOf(diagnosis: Promise<Result[]>): Promise<string[]> {
  const results = await diagnosis;
  for (const { detail, remedy } of results) expect(`${detail} ${remedy}`).not.toMatch(/\.\.( |$)/);
  return results
    .filter(({ remedy }) => remedy !== undefined)
    .map(
      ({ status, check, detail, remedy }) =>
        `${status === 'warning' ? 'warning in ' : ''}${check}: ${detail} ${remedy}`,
    );
}

/** Expects that the account of a run and its files are deleted. Its API keys are deleted with the account. */
export async function expectNoLeftovers(sql: postgres.Sql, email: string) {
  const left = await sql`
    select email from auth.users where email = ${email}
    union all select name from storage.objects where name = ${`doctor-${email.split('@')[0]}`}`;
  expect(left).toEqual([]);
}

/** Returns settings of a gateway for the project of the test run, or for another project with the same keys. */
export function settingsOf(url = inject('stack').apiUrl) {
  const { publishableKey, secretKey } = inject('stack');
  return { SUPABASE_URL: url, SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey };
}

/** Returns the doctor of a project. Expects that it leaves nothing behind, unless it reports a failed clean-up. */
export const doctorOf =
  (settings: Record<string, string>, sql: postgres.Sql): Diagnose =>
  async (env = {}, gateway) => {
    const run = createRun(loadConfig({ ...settings, ...env }), gateway === undefined ? null : new URL(gateway));
    const results = await runChecks(run, () => {});
    await run.close();
    if (resultOf(results, 'Clean-up') === undefined) await expectNoLeftovers(sql, run.account.email);
    return results;
  };

/** Test function with a doctor that examines the project of the test run. */
export const test = base.extend<{ $file: { diagnose: Diagnose } }>({
  diagnose: [async ({ sql }, use) => use(doctorOf(settingsOf(), sql)), { scope: 'file' }],
});
