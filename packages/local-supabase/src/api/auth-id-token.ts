import { hash } from 'node:crypto';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import { idTokenAlgorithm, idTokenProviders, idTokenPublicKey, type Provider } from '../identity-provider.ts';
import { authError, oauthError } from './auth-errors.ts';

const text = z.string().default('');

export const IdTokenGrant = z.object({ provider: text, id_token: text, nonce: text });

const Claims = z.object({
  iss: z.string(),
  sub: z.string().default(''),
  nonce: z.string().default(''),
  email: z.string().default(''),
  email_verified: z.unknown().optional(),
  name: z.string().optional(),
  picture: z.string().optional(),
});

type Claims = z.infer<typeof Claims>;

/** User data of an identity provider. */
export interface ExternalIdentity {
  provider: Provider;
  /** Id of the user at the provider. */
  sub: string;
  /** Address in lower case; empty if the provider sends none. */
  email: string;
  /** True if the provider has verified the address. */
  verified: boolean;
  /** Claims that Auth stores in the identity and in the user's metadata. */
  data: Record<string, unknown>;
}

/** Creates the error for an invalid token. Auth has several messages, but the service does not read them. */
const badToken = () => oauthError('invalid request', 'Bad ID token');

/**
 * Verifies an ID token as supabase/auth does in internal/api/token_oidc.go.
 * @throws an OAuth error for an invalid token, AuthError for an unknown provider
 */
export async function verifyIdToken(request: z.infer<typeof IdTokenGrant>): Promise<ExternalIdentity> {
  const { provider } = request;
  if (provider !== 'apple' && provider !== 'google')
    throw authError(400, 'validation_failed', `Custom OIDC provider "${provider}" not allowed`);
  const claims = await claimsOf(provider, request.id_token);
  const expectedNonce = request.nonce && hash('sha256', request.nonce);
  if (!claims.sub || claims.nonce !== expectedNonce) throw badToken();
  return identityOf(provider, claims);
}

async function claimsOf(provider: Provider, token: string): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(token, idTokenPublicKey, {
      algorithms: [idTokenAlgorithm],
      issuer: idTokenProviders[provider].issuer,
      audience: idTokenProviders[provider].clientId,
      requiredClaims: ['exp'],
    });
    return Claims.parse(payload);
  } catch {
    throw badToken();
  }
}

function identityOf(provider: Provider, claims: Claims): ExternalIdentity {
  const { iss, sub, email } = claims;
  // Tokens of Apple have only verified addresses, and no names.
  const verified = provider === 'apple' || claims.email_verified === true;
  const { name, picture } = provider === 'google' ? claims : {};
  const told = { iss, sub, provider_id: sub, name, full_name: name, picture, avatar_url: picture, email };
  // Omit claims that the token does not have, so that Auth keeps the former values.
  const known = Object.fromEntries(Object.entries(told).filter(([, value]) => value));
  const data = { ...known, email_verified: verified, phone_verified: false };
  return { provider, sub, email: email.toLowerCase(), verified, data };
}
