import { Router } from 'express';
import type { Context } from './context.ts';
import { Deadline, upstreamBudgetMs } from './upstream.ts';

/** Runs a check and measures it; a part that fails, or takes longer than a request may wait for data, is not ready. */
async function timed(check: (deadline: Deadline) => Promise<boolean>) {
  const started = performance.now();
  const ok = await check(new Deadline()).catch(() => false);
  return { ok, ms: Math.round(performance.now() - started) };
}

/** /healthz: the process runs. /readyz: what it stands in front of answers, too. */
export function health({ config, upstream, supabase }: Context): Router {
  const { url, publishableKey } = config.supabase;
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const [database, auth] = await Promise.all([
      timed(async (deadline) =>
        Array.isArray(await supabase.callFunction(null, 'list_categories', deadline)),
      ),
      timed(async (deadline) => {
        const { status } = await upstream.call(`${url}/auth/v1/health`, {
          method: 'GET',
          headers: { apikey: publishableKey },
          signal: deadline.signal(upstreamBudgetMs.data),
        });
        return status === 200;
      }),
    ]);
    const ready = database.ok && auth.ok;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready', checks: { database, auth } });
  });
  return router;
}
