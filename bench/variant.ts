import { createApp } from '../src/app.ts';
import type { UserCaller } from '../src/caller.ts';
import { loadConfig } from '../src/config.ts';
import { type Context, createContext } from '../src/context.ts';
import { createHttpServer } from '../src/http-server.ts';

// The gateway without one of its layers, which LEAVE_OUT names: what a layer costs is what is saved without it.

const config = loadConfig(process.env);
const context = await createContext(config);
const left = process.env['LEAVE_OUT'];

// The token still goes along to Supabase: what that costs is no part of authentication.
const believe = (token: string): Promise<UserCaller> =>
  Promise.resolve({ via: 'jwt', userId: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', token, claims: {} });
const without: Record<string, Partial<Context>> = {
  authentication: { verify: believe },
  limits: { rateLimits: { ...context.rateLimits, general: () => Promise.resolve() } },
};
const app = createApp({ ...context, ...without[left ?? ''] });

if (left === 'helmet') {
  app.use((_req, res, next) => {
    res.locals.securityHeaders = [];
    next();
  });
  app.router.stack.unshift(...app.router.stack.splice(-1)); // before all that answers
}

createHttpServer(config, app).listen(config.port, '127.0.0.1');
