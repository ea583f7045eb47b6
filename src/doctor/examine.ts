import type { Check, Result } from './check.ts';
import { migrations } from './database.ts';
import { gatewayClock, https, proxies, readiness } from './gateway.ts';
import {
  accessToken,
  account,
  accountTriggers,
  addressForwarding,
  apiKeys,
  customerRecord,
} from './identity.ts';
import { NotChecked, Problem, reasonOf } from './problem.ts';
import { address, clock, publishableKey, secretKey, signInSettings } from './project.ts';
import { redis } from './redis.ts';
import { readReplica } from './replica.ts';
import { buckets, signedUrls } from './storage.ts';
import type { Visit } from './visit.ts';

/** Every check, in the order in which one builds on the other. */
export const checks: readonly Check[] = [
  address,
  publishableKey,
  secretKey,
  signInSettings,
  clock,
  migrations,
  buckets,
  signedUrls,
  accountTriggers,
  account,
  accessToken,
  customerRecord,
  addressForwarding,
  readReplica,
  redis,
  readiness,
  gatewayClock,
  https,
  proxies,
  apiKeys,
];

async function resultOf(check: Check, visit: Visit, succeeded: ReadonlySet<Check>): Promise<Result> {
  const missing = check.needs.find((needed) => !succeeded.has(needed));
  if (missing !== undefined)
    return { check: check.name, status: 'not checked', detail: `It depends on "${missing.name}".` };
  try {
    return { check: check.name, status: 'ok', detail: await check.run(visit) };
  } catch (error) {
    if (error instanceof NotChecked)
      return { check: check.name, status: 'not checked', detail: error.message };
    const remedy =
      error instanceof Problem ? error.remedy : 'Run the doctor again, and look at Logs in the dashboard.';
    const detail = error instanceof Problem ? error.message : `It failed: ${reasonOf(error)}.`;
    return { check: check.name, status: 'problem', detail, remedy };
  }
}

/**
 * Runs every check and removes everything that they created.
 * @param tell told each result as soon as it is known
 * @param interrupted ends the examination after the check that is under way
 */
export async function examine(
  visit: Visit,
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
    const result = await resultOf(check, visit, succeeded);
    if (result.status === 'ok') succeeded.add(check);
    add(result);
  }
  for (const what of await visit.clearAway()) {
    add({
      check: 'Clean-up',
      status: 'problem',
      detail: `This could not be removed: ${what}.`,
      remedy: 'Delete it in the dashboard: Authentication, Users, or Storage.',
    });
  }
  return results;
}
