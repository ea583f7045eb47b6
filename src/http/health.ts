import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';

/** Lifetime of a check, which all probes share, because many load balancers probe at the same time. */
const freshForMs = 1_000;

const timeoutMs = 3_000;

/** Runs a check and measures it. A part that fails or is late is not ready. */
async function timed(check: () => Promise<boolean>) {
  const started = performance.now();
  const ok = await check().catch(() => false);
  return { ok, ms: Math.round(performance.now() - started) };
}

/** Answers /healthz while the process runs. */
export const alive: RequestHandler = (_req, res) => {
  res.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/**
 * Answers /readyz with 200 while Supabase answers and the process is not shutting down. Redis and a read replica are
 * only reported, because the gateway works without them.
 */
export function ready({ config, lifecycle, redis, upstream }: Context): RequestHandler {
  const { url, readUrl, publishableKey } = config.supabase;
  const { supabaseSecretKey } = config.secrets;

  async function runChecks() {
    const signal = AbortSignal.timeout(timeoutMs);
    const [database, auth, replica, shared] = await Promise.all([
      timed(async () => {
        // Uses POST, which only the primary answers.
        const { status } = await upstream.fetch(`${url}/rest/v1/rpc/list_categories`, {
          method: 'POST',
          headers: { apikey: publishableKey, 'Content-Type': 'application/json' },
          body: '{}',
          signal,
        });
        return status === 200;
      }),
      timed(async () => {
        const { status } = await upstream.fetch(`${url}/auth/v1/health`, {
          headers: { apikey: publishableKey },
          signal,
        });
        return status === 200;
      }),
      readUrl &&
        timed(async () => {
          const headers = { apikey: supabaseSecretKey, Authorization: `Bearer ${supabaseSecretKey}` };
          const address = `${readUrl}/rest/v1/rpc/replica_lag_seconds`;
          const answer = await upstream.fetch(address, { headers, signal }, 'replica');
          return typeof (await answer.json()) === 'number'; // null from the primary, if a load balancer chose it
        }),
      redis &&
        timed(async () => {
          await redis.send('EXISTS', 'sounds:check');
          return redis.problem() === null;
        }),
    ]);
    return {
      database,
      auth,
      ...(replica && { replica }),
      ...(shared && { redis: { ...shared, reason: redis?.problem() ?? undefined } }),
    };
  }

  let latest = { startedAt: Number.NEGATIVE_INFINITY, checks: {} as ReturnType<typeof runChecks> };

  return async (_req, res) => {
    res.set('Cache-Control', 'no-store');
    if (lifecycle.draining) {
      res.status(503).json({ status: 'shutting down' });
      return;
    }
    const now = performance.now();
    if (now - latest.startedAt > freshForMs) latest = { startedAt: now, checks: runChecks() };
    const checks = await latest.checks;
    const isReady = checks.database.ok && checks.auth.ok;
    res.status(isReady ? 200 : 503).json({ status: isReady ? 'ready' : 'not ready', checks });
  };
}
