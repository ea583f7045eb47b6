import { requireAuth } from '@supabase/lite';
import type { Context } from 'hono';
import { z } from 'zod';
import { body, type Routes } from './auth.ts';
import { Recover, recover, resendSignUp, Verify, verify } from './auth-mails.ts';
import { requireShortPassword, signUpByMail } from './auth-service.ts';
import { type AuthService, atomically, privateAuth } from './lite.ts';

const Change = z.object({ password: z.string().optional(), data: z.record(z.string(), z.unknown()).optional() });

const SignInByMail = z.object({
  email: z.string().default(''),
  data: z.record(z.string(), z.unknown()).nullish(),
  create_user: z.boolean().default(true),
});

/** Signs up an address that is not confirmed. Otherwise Lite mails the code of a sign-in. */
async function signInByMail(service: AuthService, c: Context) {
  const { email, data, create_user } = await body(c, SignInByMail);
  return signUpByMail(service, email, data ?? {}, create_user);
}

/** Routes for recovery, mailed codes and new passwords, as in Supabase Auth. */
export const accountRoutes: Routes = {
  'POST /otp': signInByMail,
  'POST /magiclink': signInByMail,
  'POST /recover': async (service, c) => recover(service, await body(c, Recover)),
  'POST /resend': async (service, c) => resendSignUp(service, await body(c, Recover)),
  'POST /verify': async (service, c) => verify(service, await body(c, Verify)),
  async 'PUT /user'(service, c) {
    const change = await body(c, Change);
    if (change.password === undefined) return undefined;
    return signedIn(c, (caller) => changePassword(service, caller, change));
  },
};

/** Runs `run` for the user of the token, or returns Lite's response to an invalid token. */
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

/** Sets a new password, ends all sessions except the caller's, and returns the user. */
function changePassword(
  service: AuthService,
  { userId, sessionId }: { userId: string; sessionId: string | undefined },
  { password = '', data }: z.infer<typeof Change>,
) {
  requireShortPassword(password);
  privateAuth(service).assertPasswordStrong(password);
  return atomically(service, async (repository) => {
    const user = await service.updateUser(userId, data ? { password, data } : { password });
    await repository.deleteRefreshTokensForUser(userId, sessionId);
    await repository.deleteUserSessions(userId, sessionId);
    return user;
  });
}
