import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';

/** Probes come from many load balancers at once; a state this old, in milliseconds, is news enough for all of them. */
const freshForMs = 1_000;

/** Probes do not wait for longer, in milliseconds. */
const patienceMs = 3_000;

/** Runs a check and measures it; a part that fails, or does not answer in time, is not ready. */
async function timed(check: () => Promise<boolean>) {
  const started = performance.now();
  const ok = await check().catch(() => false);
  return { ok, ms: Math.round(performance.now() - started) };
}

/** /healthz: the process runs. */
export const alive: RequestHandler = (_req, res) => {
  res.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/**
 * /readyz: this process should be sent requests: Supabase answers, and it is not shutting down. Redis is reported only:
 * without it each process limits by itself.
 */
export function ready({ config, lifecycle, redis, upstream, data }: Context): RequestHandler {
  const { url, publishableKey } = config.supabase;

  async function runChecks() {
    const [database, auth, shared] = await Promise.all([
      timed(async () => Array.isArray(await data.service.call(null, 'list_categories'))),
      timed(async () => {
        const { status } = await upstream.fetch(`${url}/auth/v1/health`, {
          headers: { apikey: publishableKey },
          signal: AbortSignal.timeout(patienceMs),
        });
        return status === 200;
      }),
      redis && timed(async () => (await redis.ping()) === 'PONG'),
    ]);
    return { database, auth, ...(shared && { redis: shared }) };
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
