import { z } from 'zod';
import { Done, endpoint } from '../endpoint.ts';
import { body, exactText, text } from '../http/validate.ts';
import { email, examplePassword, newPassword, Session, toSession } from '../session.ts';
import type { CodeType } from '../supabase/accounts.ts';

const code = text(50)
  .transform((value) => value.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6,10}$/, 'must be the 6 to 10 digits of the mail'))
  .meta({ override: { minLength: 6, maxLength: 50 }, examples: ['123456'] });

/** Has a code mailed. The mail goes out, or it does not: the client is told the same. */
function mailEndpoint(operation: 'recover' | 'resend', type: CodeType, summary: string, description: string) {
  return endpoint({
    method: 'post',
    path: `/auth/${operation}`,
    operation,
    summary,
    description,
    guard: 'none',
    body: body({ email }),
    extraLimits: ['mailsFromClient', 'mailsToAddress'],
    response: Done,
    errors: ['invalid_request', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, req }) => {
      const reason = await context.auth.mailCode(type, body.email, { ip: req.ip });
      if (reason !== null) {
        context.metrics?.mailNotSent();
        req.log.warn({ reason, type }, 'Supabase Auth sent no mail');
      }
      return { data: { ok: true } };
    },
  });
}

export const recoveryEndpoints = [
  mailEndpoint(
    'recover',
    'recovery',
    'Mail a code for a forgotten password',
    'Mails a code that `/auth/verify` takes as `recovery`. The answer is the same whether or not the address has an ' +
      'account. Five mails an hour for one address, beyond that 429.',
  ),
  mailEndpoint(
    'resend',
    'signup',
    'Mail the confirmation code again',
    'Mails the code that confirms a new account again, where one is due. The answer is the same in any case. Five ' +
      'mails an hour for one address, those of `/auth/recover` included, beyond that 429.',
  ),

  endpoint({
    method: 'post',
    path: '/auth/verify',
    operation: 'verify',
    summary: 'Open a session with the code of a mail',
    description:
      'Takes the code that was mailed after sign-up, which confirms the address, or for a forgotten password, to be ' +
      'followed by `/auth/password`. A wrong, used or expired code, and a deactivated account, are one and the same 401. ' +
      'Ten failures an hour for one address are 429.',
    guard: 'none',
    body: body({
      type: z
        .enum(['signup', 'recovery'], { error: 'must be signup or recovery' })
        .meta({ description: 'What the mail was sent for.', examples: ['recovery'] }),
      email,
      code,
    }),
    extraLimits: ['failedCodes'],
    response: z.object({ data: Session }),
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, req }) => {
      const tokens = await context.auth.verifyCode(body.type, body.email, body.code, { ip: req.ip });
      return { data: toSession(tokens) };
    },
  }),

  endpoint({
    method: 'post',
    path: '/auth/password',
    operation: 'changePassword',
    summary: 'Set a new password',
    description:
      'Sets the password of the caller. All other sessions end, this one lives on. Projects may ask for the current ' +
      'password; a session that the code of a mail has opened needs none.',
    guard: 'user',
    body: body({
      password: newPassword,
      current_password: exactText(1000)
        .optional()
        .meta({ examples: [examplePassword] }),
    }),
    response: Done,
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, body, req }) => {
      const change = { password: body.password, currentPassword: body.current_password };
      await context.auth.changePassword(caller.token, change, { ip: req.ip });
      return { data: { ok: true } };
    },
  }),
];
