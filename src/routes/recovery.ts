import type { Logger } from 'pino';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import type { ApiError } from '../errors.ts';
import { requireNoGuest, requireRecentSignIn, type UserCaller } from '../model/caller.ts';
import { body, exactText, optional, plainText } from '../model/fields.ts';
import {
  email,
  examplePassword,
  fullName,
  newPassword,
  nfc,
  SessionResponse,
  type Tokens,
  toSession,
} from '../model/session.ts';
import { minimumDelay } from '../shared/minimum-delay.ts';
import { withNewDeadlines } from '../shared/request-context.ts';
import type { CodeType } from '../supabase/auth/auth.ts';
import { mailNotSent } from '../supabase/auth/mail-not-sent.ts';

const code = plainText(50)
  .transform((value) => value.replace(/[\s\p{Pd}\u2212.]/gu, ''))
  .pipe(z.string().regex(/^\d{6,10}$/, 'must be the 6 to 10 digits of the mail'))
  .meta({
    override: { maxLength: 50, pattern: '^[^0-9A-Za-z\\u0000]*([^A-Za-z\\u0000][^0-9A-Za-z\\u0000]*){6,10}$' },
    examples: ['12345678'],
  });

/** One object instead of a union of two, because generated clients cannot construct a union. */
const VerifyRequest = body({
  type: z
    .enum(['signup', 'recovery'], 'must be signup or recovery')
    .meta({ id: 'VerifyType', description: '`signup` for a new account, `recovery` for a forgotten password.' }),
  email,
  code,
  password: optional(newPassword).meta({
    description: 'Required with `signup`, at most 72 bytes in UTF-8. Without effect with `recovery`.',
    examples: [examplePassword],
  }),
  full_name: optional(fullName).meta({
    description: 'Without effect with `recovery`.',
    examples: ['Ada Lovelace'],
  }),
})
  .refine(({ type, password }) => type === 'recovery' || password !== undefined, {
    path: ['password'],
    error: 'is required with the type signup',
  })
  .meta({ id: 'VerifyRequest' });

interface MailCall {
  context: Context;
  body: { email: string };
  ip: string;
  log: Logger;
  refusal: ApiError | undefined;
}

/** Returns a handler that mails a code. The response does not tell whether the mail was sent. */
const mailCode =
  (type: CodeType) =>
  async ({ context, body, ip, log, refusal }: MailCall) => {
    const notSent = mailNotSent(context.metrics, log, type);
    const due = minimumDelay();
    const mailing = context.auth.mailCode(type, body.email, ip).then((reason) => {
      if (reason !== null) notSent({ reason });
    });
    await Promise.race([mailing, due]); // rejects if Auth is unreachable
    mailing.catch((err: unknown) => notSent({ err }));
    await due;
    if (refusal) throw refusal; // the mail is on its way, but the response must not reveal the trust
  };

export const recoveryEndpoints = [
  endpoint('recover', 'POST /auth/recover', {
    summary: 'Mail a code for a forgotten password',
    description:
      'Mails a code for `/auth/verify` with the type `recovery`. The response is the same whether or not the address ' +
      'has an account. Also offer to enter a code after a 429 `limit_mails`: a client that the account trusts gets a ' +
      'mail nevertheless.',
    guard: 'none',
    body: body({ email }).meta({ id: 'RecoverRequest' }),
    limits: ['mailsFromClient', 'recoveryMailsPerNetwork', 'recoveryMailsToAddress', 'mailsSentAnyway'],
    handle: mailCode('recovery'),
  }),

  endpoint('resend', 'POST /auth/resend', {
    summary: 'Mail the confirmation code again',
    description: 'Mails a new code if the account still has to be confirmed. The response is the same in any case.',
    guard: 'none',
    body: body({ email }).meta({ id: 'ResendRequest' }),
    limits: ['mailsFromClient', 'mailsPerNetwork', 'mailsToAddress', 'mailsSentAnyway'],
    handle: mailCode('signup'),
  }),

  endpoint('verify', 'POST /auth/verify', {
    summary: 'Exchange a mailed code for a session',
    description:
      'Takes the code that was mailed after sign-up, which confirms the address, or for a forgotten password: set a ' +
      'new one with `/auth/password` next. With `signup`, the password and name in this request replace those of the ' +
      'sign-up, because only the code proves who owns the address. A wrong, used or expired code and a deactivated ' +
      'account get the same 401.',
    guard: 'none',
    body: VerifyRequest,
    limits: ['failedCodesPerClient', 'failedCodes', 'failedCodesPerNetwork', 'failedCodesInTotal', 'codesTriedAnyway'],
    response: SessionResponse,
    errors: ['unauthorized'],
    handle: async ({ context, body, ip }) => {
      // A wrong code takes the same time for every address, so that the time does not reveal an account.
      const due = minimumDelay();
      const afterDelay = (error: unknown) => due.then(() => Promise.reject(error));
      if (body.type === 'recovery') {
        const tokens = await context.auth.verifyCode(body, ip).catch(afterDelay);
        await context.trustedClients.trust(body.email, ip);
        return { data: toSession(tokens) };
      }
      const { email, code, full_name } = body;
      const complete = async ({ access_token, user }: Tokens) => {
        await context.trustedClients.endAll(email);
        if (full_name === undefined) return;
        const caller: UserCaller = { via: 'jwt', userId: user.id, token: access_token, claims: { signedInAt: 0 } };
        await withNewDeadlines(() => context.data.call(caller, 'update_customer', { changes: { full_name } }));
      };
      const confirmation = { email, code, password: body.password as string, fullName: full_name };
      const tokens = await context.auth.confirmAddress(confirmation, ip, complete).catch(afterDelay);
      await context.trustedClients.trust(email, ip);
      return { data: toSession(tokens) };
    },
  }),

  endpoint('changePassword', 'POST /auth/password', {
    summary: 'Set a new password',
    description:
      'Sets the password of the caller and ends all other sessions. This needs a sign-in or a mailed code within the ' +
      'last 15 minutes (a refresh does not count), or the response is 401: sign in again. Some projects also require ' +
      'the current password, except in a session that was opened with a mailed code.',
    guard: 'user',
    limits: ['rejectedPasswords'],
    body: body({
      password: newPassword.meta({ examples: ['staple battery horse'] }),
      current_password: optional(exactText(1000, 1, nfc)).meta({ examples: [examplePassword] }),
    }).meta({ id: 'ChangePasswordRequest' }),
    handle: async ({ context, caller, body, ip }) => {
      requireNoGuest(caller, 'change the password');
      requireRecentSignIn(caller, 'change the password');
      const change = { password: body.password, currentPassword: body.current_password };
      await context.auth.changePassword(caller, change, ip);
    },
  }),
];
