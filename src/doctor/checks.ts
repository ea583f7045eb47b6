import { apiKeys, reads } from './api.ts';
import { revocation } from './apple.ts';
import { mailedCodes, manualLinking, oauthServer, web3 } from './auth-switches.ts';
import {
  customers,
  exposedSchemas,
  migrations,
  privateSchema,
  rowSecurity,
  trash,
  triggers,
  upkeep,
} from './database.ts';
import { environment, redis } from './environment.ts';
import { gatewayClock, https, proxies, readiness } from './gateway.ts';
import { accessToken, account, addressForwarding, multiFactor, sharedSecret } from './identity.ts';
import { address, captcha, clock, guests, publishableKey, secretKey, signInSettings } from './project.ts';
import { readReplica } from './replica.ts';
import { NotChecked, Problem, type Result, reasonOf, Warning } from './result.ts';
import type { Check, Run } from './run.ts';
import { buckets, imageTransformations, signedUrls, storagePolicies } from './storage.ts';

/** All checks. Each comes after the checks that it needs. */
export const checks: readonly Check[] = [
  environment,
  address,
  publishableKey,
  secretKey,
  signInSettings,
  guests,
  captcha,
  clock,
  migrations,
  upkeep,
  rowSecurity,
  triggers,
  privateSchema,
  customers,
  trash,
  storagePolicies,
  exposedSchemas,
  buckets,
  signedUrls,
  imageTransformations,
  account,
  accessToken,
  sharedSecret,
  multiFactor,
  oauthServer,
  web3,
  manualLinking,
  mailedCodes,
  addressForwarding,
  readReplica,
  redis,
  revocation,
  readiness,
  gatewayClock,
  https,
  proxies,
  reads,
  apiKeys,
];

function resultOfFailure(check: string, error: unknown): Result {
  if (error instanceof NotChecked) return { check, status: 'not checked', detail: error.message };
  if (error instanceof Problem) {
    const status = error instanceof Warning ? 'warning' : 'problem';
    return { check, status, detail: error.message, remedy: error.remedy };
  }
  const remedy = 'Run the doctor again, and look at Logs in the dashboard.';
  return { check, status: 'problem', detail: `It failed: ${reasonOf(error)}.`, remedy };
}

async function resultsOf({ name, needs, execute }: Check, run: Run, succeeded: ReadonlySet<Check>) {
  try {
    const missing = needs.find((needed) => !succeeded.has(needed));
    if (missing !== undefined) throw new NotChecked(`It depends on "${missing.name}".`);
    return [{ check: name, status: 'ok' as const, detail: await execute(run) }];
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors : [error];
    return errors.map((each) => resultOfFailure(name, each));
  }
}

/** Runs all checks, reports each result at once, and removes what they created. Ends early if it is interrupted. */
export async function runChecks(
  run: Run,
  tell: (result: Result) => void,
  interrupted?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const succeeded = new Set<Check>();
  for (const check of checks) {
    if (interrupted?.aborted) break;
    const found = await resultsOf(check, run, succeeded);
    if (found.every(({ status }) => status === 'ok')) succeeded.add(check);
    found.forEach(tell);
    results.push(...found);
  }
  const remedy = 'Delete it in the dashboard: Authentication, Users, or Storage.';
  const remaining = (await run.cleanup()).map((what) =>
    resultOfFailure('Clean-up', new Problem(`This could not be removed: ${what}.`, remedy)),
  );
  remaining.forEach(tell);
  return [...results, ...remaining];
}
