import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { IdTokenProvider } from '../config/config.ts';
import { endpoint } from '../endpoint.ts';
import { unauthorized } from '../errors.ts';
import { body, exactText, optional } from '../model/fields.ts';
import {
  email,
  examplePassword,
  exampleToken,
  fullName,
  newPassword,
  placeholderUser,
  RefreshedSession,
  SessionResponse,
  SignedUp,
  toSession,
  toTokens,
} from '../model/session.ts';
import { orElse } from '../shared/or-else.ts';
import { mailNotSent } from '../supabase/auth/mail-not-sent.ts';

/** Returns the provider of an ID token by its issuer. Auth verifies the token afterwards. */
const providerOf = (idToken: string) => orElse(() => providerOfIssuer[decodeJwt(idToken).iss ?? ''], undefined);

const providerOfIssuer: Record<string, IdTokenProvider> = {
  'https://accounts.google.com': 'google',
  'accounts.google.com': 'google', // the form of older Google SDKs
  'https://appleid.apple.com': 'apple',
  'https://account.apple.com': 'apple',
};

const ExchangeIdTokenRequest = body({
  id_token: exactText(24_000).meta({ examples: [exampleToken] }),
  nonce: optional(exactText(512)).meta({ examples: ['n-0S6_WzA2Mj'] }),
}).meta({ id: 'ExchangeIdTokenRequest' });

/** Declares an exchange of ID tokens, for any provider or for the one in the path. */
function idTokenEndpoint(
  name: 'idp' | IdTokenProvider,
  operation: string,
  summary: string,
  issuer = 'the identity provider',
) {
  return endpoint(operation, `POST /auth/oauth/${name}`, {
    summary,
    description:
      `Signs in with the ID token that the app got from the native sign-in SDK of ${issuer}; there is no web redirect. The ` +
      'first sign-in creates the account. Send a nonce if, and only if, the ID token has one: give the SDK the ' +
      'SHA-256 of the nonce in lower-case hex, and this endpoint the nonce itself.',
    guard: 'none',
    body: ExchangeIdTokenRequest,
    maxBody: '32kb',
    response: SessionResponse,
    errors: ['unauthorized'],
    handle: async ({ context, body, ip }) => {
      const provider = name === 'idp' ? providerOf(body.id_token) : name;
      if (provider === undefined || !context.config.idTokenProviders.includes(provider)) {
        throw unauthorized('ID tokens of this issuer are not accepted here.', 'id_token_refused');
      }
      const token = { provider, idToken: body.id_token, nonce: body.nonce };
      const tokens = await context.auth.exchangeIdToken(token, ip);
      return { data: toSession(tokens) };
    },
  });
}

export const authEndpoints = [
  endpoint('signUp', 'POST /auth/signup', {
    summary: 'Create account',
    description:
      'If e-mail addresses must be confirmed, the response has `needs_email_confirmation: true` instead of tokens: ' +
      'send the mailed code to `/auth/verify`. That response is the same for an address that has an account, and its ' +
      '`user.id` is a placeholder: the id of the account comes with its session. After a 500 sign in instead of ' +
      'trying again, because the account may exist. `/auth/resend` shares the limit of mails to an account.',
    guard: 'none',
    body: body({ email, password: newPassword, full_name: optional(fullName) }).meta({ id: 'SignUpRequest' }),
    limits: ['signUps', 'mailsPerNetwork', 'mailsToAddress'],
    response: z.object({ data: SignedUp }).meta({ id: 'SignedUpResponse' }),
    handle: async ({ context, body, ip, log }) => {
      const account = { email: body.email, password: body.password, fullName: body.full_name };
      const tokens = await context.auth.signUp(account, ip, mailNotSent(context.metrics, log, 'signup'));
      if (tokens === null) {
        const user = placeholderUser(body.email, context.config.secrets.supabaseSecretKey);
        return { data: { needs_email_confirmation: true, user } };
      }
      await context.trustedClients.endAll(body.email);
      return { data: toSession(tokens) };
    },
  }),

  endpoint('signIn', 'POST /auth/signin', {
    summary: 'Sign in',
    description:
      'An unknown e-mail address, a wrong password, an address that is not confirmed and a deactivated account get the ' +
      'same 401: offer to mail a code. The response is also 429 while Supabase Auth is overloaded. An account trusts a ' +
      'client for 30 days after a sign-in or a mailed code: beyond the limits that others can fill, its attempt is ' +
      'tried, but gets the same 429 unless it succeeds.',
    guard: 'none',
    body: body({ email, password: exactText(1000).meta({ examples: [examplePassword] }) }).meta({
      id: 'SignInRequest',
    }),
    // The order matters: limits of wrong passwords first, then of attempts beyond these, then of successful sign-ins.
    limits: [
      'failedSignInsPerClient',
      'failedSignIns',
      'failedSignInsPerHour',
      'failedSignInsPerNetwork',
      'failedSignInsInTotal',
      'passwordQueue',
      'signInsTriedAnyway',
      'signIns',
    ],
    response: SessionResponse,
    errors: ['unauthorized'],
    handle: async ({ context, body, ip, gone, refusal }) => {
      const tokens = await context.auth.signIn(body, ip, { isBeyondLimit: refusal !== undefined, gone });
      await context.trustedClients.trust(body.email, ip);
      return { data: toSession(tokens) };
    },
  }),

  endpoint('refresh', 'POST /auth/refresh', {
    summary: 'Refresh tokens',
    description:
      'Returns a new access token and a new refresh token; the old refresh token is rotated out. Store the new one ' +
      'before using the new access token, and run one refresh at a time on a device. Repeating a refresh whose ' +
      'response was lost is safe as long as the new tokens have not been used. 401 means that the session is over: ' +
      'sign in again. Any other error says nothing about the session: keep the tokens and try again.',
    guard: 'none',
    body: body({ refresh_token: exactText(4096).meta({ examples: ['v1sQ0o3kPq7m'] }) }).meta({ id: 'RefreshRequest' }),
    response: z.object({ data: RefreshedSession }).meta({ id: 'RefreshedSessionResponse' }),
    errors: ['unauthorized'],
    handle: async ({ context, body, ip }) => ({ data: toTokens(await context.auth.refresh(body.refresh_token, ip)) }),
  }),

  endpoint('signOut', 'POST /auth/signout', {
    summary: 'Revoke refresh token',
    description:
      'Ends the session of this access token: its refresh token is revoked. Other devices stay signed in. The access ' +
      'token itself stays valid until it expires: discard it. API keys get 401 here.',
    guard: 'user',
    handle: ({ context, caller, ip }) => context.auth.signOut(caller.token, ip),
  }),

  idTokenEndpoint('idp', 'exchangeIdToken', 'Exchange identity-provider ID token'),
  idTokenEndpoint('google', 'exchangeGoogleIdToken', 'Exchange Google ID token', 'Google'),
  idTokenEndpoint('apple', 'exchangeAppleIdToken', 'Exchange Apple ID token', 'Apple'),
];
