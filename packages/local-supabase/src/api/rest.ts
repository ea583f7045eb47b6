import type { HonoContext } from '@supabase/lite';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { isStudio } from './access.ts';
import { type RestConnection, requestSettings } from './rest-connection.ts';
import { callFunction } from './rest-functions.ts';
import { claimsOf } from './rest-tokens.ts';

/** Handles calls of functions as PostgREST does. Passes all other requests to Lite, with the role of the caller. */
export const restRequests =
  (connection: RestConnection): MiddlewareHandler<HonoContext> =>
  async (c, next) => {
    const { raw } = c.req;
    if (!c.req.path.startsWith('/rest/v1/')) return next();
    const path = c.req.path.slice('/rest/v1'.length);
    c.set('ignoreAuthorization', true);
    try {
      const claims = isStudio(raw) ? { role: 'service_role' } : await claimsOf(raw.headers);
      const settings = {
        role: claims.role,
        'request.jwt.claims': JSON.stringify(claims),
        'request.path': path,
      };
      await requestSettings.run(settings, async () => {
        const answer = await callFunction(connection, raw, path);
        if (answer) c.res = answer;
        else await next();
      });
    } catch (error) {
      if (!(error instanceof HTTPException)) throw error;
      c.res = error.getResponse();
    }
    return undefined;
  };
