import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { Tokens } from '../auth-api.ts';
import type { IdTokenProvider } from '../config.ts';
import { endpoint } from '../endpoint.ts';
import { unauthorized } from '../errors.ts';
import { body, exactText, text } from '../parse.ts';

const User = z.object({ id: z.guid(), email: z.string().nullable() });
const RefreshedSession = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('bearer'),
  expires_at: z.int(),
  expires_in: z.int(),
});
const Session = RefreshedSession.extend({ user: User });
const Unconfirmed = z.object({ needs_email_confirmation: z.literal(true), user: User });

const email = text(254).pipe(z.email('must be an e-mail address'));

/** The fields the contract names and no others: Auth's user object holds much more. */
function toTokens({ access_token, refresh_token, token_type, expires_at, expires_in }: Tokens) {
  return { access_token, refresh_token, token_type, expires_at, expires_in };
}

function toUser({ id, email }: Tokens['user']) {
  return { id, email: email || null };
}

/** Which provider an ID token comes from, by its issuer; nothing is believed before Auth has verified the token. */
function providerOf(idToken: string): IdTokenProvider | undefined {
  try {
    return providerOfIssuer[decodeJwt(idToken).iss ?? ''];
  } catch {
    return undefined;
  }
}

const providerOfIssuer: Record<string, IdTokenProvider> = {
  'https://accounts.google.com': 'google',
  'accounts.google.com': 'google', // the form of older Google SDKs
  'https://appleid.apple.com': 'apple',
  'https://account.apple.com': 'apple',
};

/** The exchange of the contract, and the same with the provider named in the path. */
function idTokenEndpoint(name: 'idp' | IdTokenProvider, operation: string, summary: string) {
  return endpoint({
    method: 'post',
    path: `/auth/oauth/${name}`,
    operation,
    summary,
    guard: 'none',
    body: body({ id_token: exactText(24_000), nonce: exactText(512).optional() }),
    maxBody: '32kb',
    response: z.object({ data: Session }),
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, ip, deadline }) => {
      const provider = name === 'idp' ? providerOf(body.id_token) : name;
      if (provider === undefined || !context.config.idTokenProviders.includes(provider)) {
        throw unauthorized('ID tokens of this issuer are not accepted here.');
      }
      const token = { provider, idToken: body.id_token, nonce: body.nonce };
      const tokens = await context.auth.exchangeIdToken(token, { ip, deadline });
      return { data: { ...toTokens(tokens), user: toUser(tokens.user) } };
    },
  });
}

export const authEndpoints = [
  endpoint({
    method: 'post',
    path: '/auth/signup',
    operation: 'signUp',
    summary: 'Create account',
    guard: 'none',
    body: body({
      email,
      // bcrypt, which Auth hashes with, sees no more than 72 bytes.
      password: exactText(72, 6).refine(
        (value) => Buffer.byteLength(value) <= 72,
        'must have at most 72 bytes',
      ),
      full_name: text(200).optional(),
    }),
    extraLimit: 'signUps',
    response: z.object({ data: z.union([Session, Unconfirmed]) }),
    errors: ['invalid_request', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, ip, deadline }) => {
      const account = { email: body.email, password: body.password, fullName: body.full_name };
      const answer = await context.auth.signUp(account, { ip, deadline });
      if ('access_token' in answer) return { data: { ...toTokens(answer), user: toUser(answer.user) } };
      return { data: { needs_email_confirmation: true as const, user: toUser(answer) } };
    },
  }),

  endpoint({
    method: 'post',
    path: '/auth/signin',
    operation: 'signIn',
    summary: 'Sign in',
    guard: 'none',
    body: body({ email, password: exactText(1000) }),
    extraLimit: 'failedSignIns',
    response: z.object({ data: Session }),
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, ip, deadline }) => {
      const tokens = await context.auth.signIn(body, { ip, deadline });
      return { data: { ...toTokens(tokens), user: toUser(tokens.user) } };
    },
  }),

  endpoint({
    method: 'post',
    path: '/auth/refresh',
    operation: 'refresh',
    summary: 'Refresh tokens',
    guard: 'none',
    body: body({ refresh_token: exactText(4096) }),
    response: z.object({ data: RefreshedSession }),
    errors: ['invalid_request', 'unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, body, ip, deadline }) => ({
      data: toTokens(await context.auth.refresh(body.refresh_token, { ip, deadline })),
    }),
  }),

  endpoint({
    method: 'post',
    path: '/auth/signout',
    operation: 'signOut',
    summary: 'Revoke refresh token',
    guard: 'user',
    response: z.object({ data: z.object({ ok: z.boolean() }) }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, ip, deadline }) => {
      await context.auth.signOut(caller.token, { ip, deadline });
      return { data: { ok: true } };
    },
  }),

  idTokenEndpoint('idp', 'exchangeIdToken', 'Exchange identity-provider ID token'),
  idTokenEndpoint('google', 'exchangeGoogleIdToken', 'Exchange Google ID token'),
  idTokenEndpoint('apple', 'exchangeAppleIdToken', 'Exchange Apple ID token'),
];
