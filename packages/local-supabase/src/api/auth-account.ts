import { type HonoContext, requireAuth } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { body, toErrorResponse } from './auth.ts';
import { type AuthService, atomically } from './auth-lite.ts';
import { Recover, recover, resendSignUp, Verify, verify } from './auth-mails.ts';
import { requireShortPassword } from './auth-service.ts';

const Change = z.object({
  password: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

type Route = (service: AuthService, c: Context) => Promise<object>;

const routes: Record<string, Route> = {
  'POST /auth/v1/recover': async (service, c) => recover(service, await body(c, Recover)),
  'POST /auth/v1/resend': async (service, c) => resendSignUp(service, await body(c, Recover)),
  'POST /auth/v1/verify': async (service, c) => verify(service, await body(c, Verify)),
};

/** Forgotten passwords, codes from mails and new passwords, answered as Supabase Auth does. */
export const accountRoutes: MiddlewareHandler<HonoContext> = async (c, next) => {
  const service = c.get('authService');
  const endpoint = `${c.req.method} ${c.req.path}`;
  try {
    const answer = await routes[endpoint]?.(service, c);
    if (answer) return c.json(answer);
    if (endpoint !== 'PUT /auth/v1/user') return await next();
    const change = await body(c, Change);
    if (change.password === undefined) return await next();
    return await signedIn(c, (caller) => changePassword(service, caller, change));
  } catch (error) {
    return toErrorResponse(error);
  }
};

/** Runs it for the user whose token came along, or gives Lite's answer to a bad one. */
export async function signedIn(
  c: Context,
  run: (caller: { userId: string; sessionId: string | undefined }) => Promise<object>,
): Promise<Response> {
  let answer: object = {};
  const rejected = await requireAuth()(c, async () => {
    answer = await run({ userId: c.get('userId'), sessionId: c.get('sessionId') });
  });
  return rejected ?? c.json(answer);
}

/** Sets a new password and ends all sessions but the caller's; returns the user. */
function changePassword(
  service: AuthService,
  { userId, sessionId }: { userId: string; sessionId: string | undefined },
  { password = '', data }: z.infer<typeof Change>,
) {
  requireShortPassword(password);
  service['assertPasswordStrong'](password);
  return atomically(service, async (repository) => {
    const user = await service.updateUser(userId, data ? { password, data } : { password });
    await repository.deleteRefreshTokensForUser(userId, sessionId);
    await repository.deleteUserSessions(userId, sessionId);
    return user;
  });
}
