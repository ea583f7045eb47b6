import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';

export const alive: RequestHandler = (_req, res) => {
  res.set('Cache-Control', 'no-store').json({ status: 'ok' });
};

/** Answers /readyz with 200 while Supabase answers and the process is not shutting down. */
export function ready({ lifecycle, checkReadiness }: Context): RequestHandler {
  return async (_req, res) => {
    res.set('Cache-Control', 'no-store');
    if (lifecycle.draining) {
      res.status(503).json({ status: 'shutting down' });
      return;
    }
    const { isReady, checks } = await checkReadiness();
    res.status(isReady ? 200 : 503).json({ status: isReady ? 'ready' : 'not ready', checks });
  };
}
