import type { Logger } from 'pino';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { SharedRedis } from '../shared/redis.ts';
import type { Upstream } from './fetch.ts';
import { calledFunctions } from './results.ts';
import { missingFunctions, missingMigrations, rejectedPublishableKey, rejectedSecretKey } from './setup-problems.ts';

/** Lifetime of a check, which all probes share, because many load balancers probe at the same time. */
const freshForMs = 1_000;

const timeoutMs = 3_000;

interface Outcome {
  ok: boolean;
  reason?: string | undefined;
}
export interface Readiness {
  isReady: boolean;
  checks: Record<string, Outcome & { ms: number }>;
}

/** Runs a check and measures it. A part that fails or is late is not ready. */
async function timed(check: () => Promise<Outcome>) {
  const started = performance.now();
  const outcome = await check().catch((): Outcome => ({ ok: false }));
  return { ...outcome, ms: Math.round(performance.now() - started) };
}

const sentences = ({ problem, remedy }: { problem: string; remedy: string }) => `${problem} ${remedy}`;

/** Creates the checks of Supabase. */
function createChecks(config: Config, upstream: Upstream) {
  const { url, readUrl, publishableKey } = config.supabase;
  const { supabaseSecretKey } = config.secrets;

  const post = (name: string, key: string, signal: AbortSignal, args = {}) =>
    upstream.fetch(`${url}/rest/v1/rpc/${name}`, {
      method: 'POST', // only the primary answers it
      headers: { apikey: key, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(args),
      signal,
    });

  async function database(signal: AbortSignal): Promise<Outcome> {
    const [list, comparison] = await Promise.all([
      post('list_categories', publishableKey, signal),
      // Use the secret key, because only the service may execute this function.
      post('missing_functions', supabaseSecretKey, signal, { needed: calledFunctions }),
    ]);
    const missing = comparison.status === 200 ? z.array(z.string()).parse(await comparison.json()) : [];
    const problem =
      (list.status === 401 && rejectedPublishableKey(401)) ||
      (comparison.status === 401 && rejectedSecretKey(401)) ||
      (missing.length > 0 && missingFunctions(missing)) ||
      ([list.status, comparison.status].includes(404) && missingMigrations);
    return { ok: list.status === 200 && !problem, reason: problem ? sentences(problem) : undefined };
  }

  async function auth(signal: AbortSignal): Promise<Outcome> {
    const { status } = await upstream.fetch(`${url}/auth/v1/health`, { headers: { apikey: publishableKey }, signal });
    return { ok: status === 200, reason: status === 401 ? sentences(rejectedPublishableKey(401)) : undefined };
  }

  async function replica(signal: AbortSignal): Promise<Outcome> {
    const headers = { apikey: supabaseSecretKey, Authorization: `Bearer ${supabaseSecretKey}` };
    const answer = await upstream.fetch(`${readUrl}/rest/v1/rpc/replica_lag_seconds`, { headers, signal }, 'replica');
    return { ok: typeof (await answer.json()) === 'number' }; // null from the primary, if a load balancer chose it
  }

  return { database, auth, replica };
}

async function checkRedis({ send, problem }: SharedRedis): Promise<Outcome> {
  await send('EXISTS', 'sounds:check').catch(() => {});
  return { ok: problem() === null, reason: problem() ?? undefined };
}

/**
 * Returns a function that checks whether Supabase answers and accepts the keys. Redis and a read replica are only
 * reported, because the gateway works without them. Logs each new reason.
 */
export function createReadiness(config: Config, upstream: Upstream, redis: SharedRedis | null, log: Logger) {
  const { database, auth, replica } = createChecks(config, upstream);
  let logged: string | undefined;

  async function run(): Promise<Readiness> {
    const signal = AbortSignal.timeout(timeoutMs);
    const [ofDatabase, ofAuth, ofReplica, ofRedis] = await Promise.all([
      timed(() => database(signal)),
      timed(() => auth(signal)),
      config.supabase.readUrl && timed(() => replica(signal)),
      redis && timed(() => checkRedis(redis)),
    ]);
    const reason = ofDatabase.reason ?? ofAuth.reason;
    if (reason !== undefined && reason !== logged) log.error(`This gateway is not ready. ${reason}`);
    logged = reason;
    return {
      isReady: ofDatabase.ok && ofAuth.ok,
      checks: {
        database: ofDatabase,
        auth: ofAuth,
        ...(ofReplica && { replica: ofReplica }),
        ...(ofRedis && { redis: ofRedis }),
      },
    };
  }

  let latest = { startedAt: Number.NEGATIVE_INFINITY, result: {} as ReturnType<typeof run> };

  return () => {
    const now = performance.now();
    if (now - latest.startedAt > freshForMs) latest = { startedAt: now, result: run() };
    return latest.result;
  };
}
