import type { Express } from 'express';
import { sendOnce } from './answer.ts';
import type { Context } from './context.ts';
import { refuseOtherMethods } from './router.ts';
import { Deadline, upstreamBudgetMs } from './upstream.ts';

/** Probes come from many load balancers at once; a state this old, in milliseconds, is news enough for all of them. */
const freshForMs = 1_000;

/** Runs a check and measures it; a part that fails, or takes longer than a request may wait for data, is not ready. */
async function timed(check: (deadline: Deadline) => Promise<boolean>) {
  const started = performance.now();
  const ok = await check(new Deadline()).catch(() => false);
  return { ok, ms: Math.round(performance.now() - started) };
}

/**
 * /healthz: the process runs. /readyz: it should be sent requests: Supabase answers, and it is not shutting down.
 * Redis is reported only: without it each process limits by itself.
 */
export function addHealth(app: Express, context: Context) {
  const { config, lifecycle, redis, upstream, supabase } = context;
  const { publishableKey } = config.supabase;

  async function runChecks() {
    const [database, auth, shared] = await Promise.all([
      timed(async (deadline) =>
        Array.isArray(await supabase.callFunction(null, 'list_categories', deadline)),
      ),
      timed(async (deadline) => {
        const { status } = await upstream.call('auth/v1/health', {
          service: 'auth',
          method: 'GET',
          headers: { apikey: publishableKey },
          ...deadline.within(upstreamBudgetMs.data),
        });
        return status === 200;
      }),
      redis && timed(async () => (await redis.ping()) === 'PONG'),
    ]);
    return { database, auth, ...(shared && { redis: shared }) };
  }

  let latest = { startedAt: Number.NEGATIVE_INFINITY, parts: {} as ReturnType<typeof runChecks> };
  function recentChecks() {
    const now = performance.now();
    if (now - latest.startedAt > freshForMs) latest = { startedAt: now, parts: runChecks() };
    return latest.parts;
  }

  app.get('/healthz', async (req, res) => {
    res.locals.probe = true;
    await sendOnce(req, res, JSON.stringify({ status: 'ok' }));
  });
  app.get('/readyz', async (req, res) => {
    res.locals.probe = true;
    if (lifecycle.draining) {
      await sendOnce(req, res, JSON.stringify({ status: 'shutting down' }), 503);
      return;
    }
    const parts = await recentChecks();
    const ready = parts.database.ok && parts.auth.ok;
    const state = { status: ready ? 'ready' : 'not ready', checks: parts };
    await sendOnce(req, res, JSON.stringify(state), ready ? 200 : 503);
  });
  for (const path of ['/healthz', '/readyz']) refuseOtherMethods(app, path, ['GET', 'HEAD'], context);
}
