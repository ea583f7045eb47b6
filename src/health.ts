import { Router } from 'express';
import type { Context } from './context.ts';
import { Deadline } from './upstream.ts';

/** Runs a check; a part that does not answer within two seconds is not ready. */
async function timed(check: (signal: AbortSignal) => Promise<boolean>) {
  const started = performance.now();
  const ok = await check(AbortSignal.timeout(2_000)).catch(() => false);
  return { ok, ms: Math.round(performance.now() - started) };
}

/** /healthz: the process runs. /readyz: what it stands in front of answers, too. */
export function health({ config, fetch, supabase }: Context): Router {
  const { url, publishableKey } = config.supabase;
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const [database, auth] = await Promise.all([
      timed(async () => (await supabase.callFunction(null, 'list_categories', new Deadline())) !== null),
      timed(async (signal) => {
        const response = await fetch(`${url}/auth/v1/health`, {
          headers: { apikey: publishableKey },
          signal,
        });
        await response.body?.cancel();
        return response.ok;
      }),
    ]);
    const ready = database.ok && auth.ok;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready', checks: { database, auth } });
  });
  return router;
}
