import { reads } from './api.ts';
import type { Check, Result } from './check.ts';
import { exposedSchemas, migrations, upkeep } from './database.ts';
import { environment } from './environment.ts';
import { gatewayClock, https, proxies, readiness } from './gateway.ts';
import { accessToken, account, addressForwarding, apiKeys, multiFactor, sharedSecret } from './identity.ts';
import { NotChecked, Problem, reasonOf, Warning } from './problem.ts';
import { address, captcha, clock, publishableKey, secretKey, signInSettings } from './project.ts';
import { redis } from './redis.ts';
import { readReplica } from './replica.ts';
import type { Run } from './run.ts';
import { buckets, imageTransformations, signedUrls, storagePolicies } from './storage.ts';

/** All checks. Each runs after those that it needs. */
export const checks: readonly Check[] = [
  environment,
  address,
  publishableKey,
  secretKey,
  signInSettings,
  captcha,
  clock,
  migrations,
  upkeep,
  exposedSchemas,
  buckets,
  signedUrls,
  imageTransformations,
  account,
  accessToken,
  sharedSecret,
  multiFactor,
  storagePolicies,
  addressForwarding,
  readReplica,
  redis,
  readiness,
  gatewayClock,
  https,
  proxies,
  reads,
  apiKeys,
];

function resultOfFailure({ name }: Check, error: unknown): Result {
  if (error instanceof NotChecked) return { check: name, status: 'not checked', detail: error.message };
  if (error instanceof Problem) {
    const status = error instanceof Warning ? 'warning' : 'problem';
    return { check: name, status, detail: error.message, remedy: error.remedy };
  }
  const remedy = 'Run the doctor again, and look at Logs in the dashboard.';
  return { check: name, status: 'problem', detail: `It failed: ${reasonOf(error)}.`, remedy };
}

async function resultsOf(check: Check, run: Run, succeeded: ReadonlySet<Check>): Promise<Result[]> {
  const missing = check.needs.find((needed) => !succeeded.has(needed));
  if (missing !== undefined)
    return [{ check: check.name, status: 'not checked', detail: `It depends on "${missing.name}".` }];
  try {
    return [{ check: check.name, status: 'ok', detail: await check.execute(run) }];
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors : [error];
    return errors.map((each) => resultOfFailure(check, each));
  }
}

/**
 * Runs all checks, and removes everything that they created.
 * @param tell called with each result at once
 * @param interrupted ends the run after the current check
 */
export async function runChecks(
  run: Run,
  tell: (result: Result) => void,
  interrupted?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const succeeded = new Set<Check>();
  const add = (result: Result) => {
    results.push(result);
    tell(result);
  };
  for (const check of checks) {
    if (interrupted?.aborted) break;
    const found = await resultsOf(check, run, succeeded);
    if (found.every(({ status }) => status === 'ok')) succeeded.add(check);
    found.forEach(add);
  }
  for (const what of await run.cleanup()) {
    add({
      check: 'Clean-up',
      status: 'problem',
      detail: `This could not be removed: ${what}.`,
      remedy: 'Delete it in the dashboard: Authentication, Users, or Storage.',
    });
  }
  return results;
}
