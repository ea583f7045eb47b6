import { createHash } from 'node:crypto';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import { ALGORITHM, PROVIDERS, type Provider, PUBLIC_KEY } from '../identity-provider.ts';
import { AuthError, OAuthError } from './auth-errors.ts';

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** The body of the `id_token` grant. */
export const IdTokenGrant = z.object({
  provider: text,
  id_token: text,
  access_token: text,
  nonce: text,
  client_id: text,
  issuer: text,
});

const Claims = z.object({
  iss: z.string(),
  sub: z.string().default(''),
  aud: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((audience) => [audience].flat()),
  nonce: z.string().default(''),
  at_hash: z.string().default(''),
  email: z.string().default(''),
  email_verified: z.unknown().optional(),
  name: z.string().optional(),
  picture: z.string().optional(),
  hd: z.string().optional(),
  is_private_email: z.unknown().optional(),
  auth_time: z.number().optional(),
});

type Claims = z.infer<typeof Claims>;

/** Somebody as an identity provider knows them. */
export interface ExternalIdentity {
  provider: Provider;
  /** The provider's name for them. */
  sub: string;
  /** Lower case; empty when the provider tells none. */
  email: string;
  /** Whether the provider says that the address is theirs. */
  verified: boolean;
  /** What Auth keeps about them: in the identity, and in the metadata of the user. */
  data: Record<string, unknown>;
}

/**
 * Tells whom an ID token is about, if it is one to believe. The checks, their order and their words are those of
 * supabase/auth, internal/api/token_oidc.go.
 * @throws OAuthError for what is wrong with the token, AuthError for a provider that is unknown or off
 */
export async function verifyIdToken(request: z.infer<typeof IdTokenGrant>): Promise<ExternalIdentity> {
  if (!request.id_token) throw new OAuthError('invalid request', 'id_token required');
  if (!request.provider && !(request.client_id && request.issuer)) {
    throw new OAuthError('invalid request', 'provider or client_id and issuer required');
  }
  const provider = providerOf(request);
  const claims = await claimsOf(provider, request.id_token, request.access_token);
  const { sub, aud, nonce } = claims;
  if (!sub) throw new OAuthError('invalid request', 'Missing sub claim in id_token');
  const clientIds: readonly string[] = PROVIDERS[provider].clientIds;
  if (!aud.some((client) => clientIds.includes(client))) {
    throw new OAuthError('invalid request', `Unacceptable audience in id_token: [${aud.join(' ')}]`);
  }
  if (Boolean(nonce) !== Boolean(request.nonce)) {
    const reason = 'Passed nonce and nonce in id_token should either both exist or not.';
    throw new OAuthError('invalid request', reason);
  }
  if (nonce && nonce !== sha256(request.nonce).toString('hex')) {
    throw new OAuthError('invalid nonce', 'Nonces mismatch');
  }
  return identityOf(provider, claims);
}

// Those that Auth knows besides, off here as they are in a new project.
const OFF = ['azure', 'facebook', 'keycloak', 'kakao', 'vercel_marketplace', 'snapchat'];

function providerOf({ provider: name, issuer }: { provider: string; issuer: string }): Provider {
  if (name === 'apple' || issuer === PROVIDERS.apple.issuers[0]) return 'apple';
  if (name === 'google' || issuer === PROVIDERS.google.issuers[0]) return 'google';
  if (OFF.includes(name)) throw new AuthError(400, 'provider_disabled', `Provider "${name}" is not enabled`);
  throw new AuthError(400, 'validation_failed', `Custom OIDC provider "${name}" not allowed`);
}

async function claimsOf(provider: Provider, token: string, accessToken: string): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(token, PUBLIC_KEY, {
      algorithms: [ALGORITHM],
      issuer: [...PROVIDERS[provider].issuers],
      requiredClaims: ['exp'],
    });
    const claims = Claims.parse(payload);
    // OpenID Connect Core, 3.1.3.6: the left half of the hash.
    const hash = sha256(accessToken).subarray(0, 16).toString('base64url');
    if (!accessToken || !claims.at_hash || claims.at_hash === hash) return claims;
  } catch {
    // Whatever it was, Auth says no more than this.
  }
  throw new OAuthError('invalid request', 'Bad ID token');
}

function identityOf(provider: Provider, claims: Claims): ExternalIdentity {
  const { iss, sub, email } = claims;
  // Apple gives out only addresses that it has verified, and in the token no names.
  const verified = provider === 'apple' || claims.email_verified === true;
  const { name, picture } = provider === 'google' ? claims : {};
  const { hd, is_private_email, auth_time } = claims;
  const custom = told(provider === 'google' ? { hd } : { is_private_email, auth_time });
  const data = told({
    iss,
    sub,
    provider_id: sub,
    name,
    full_name: name,
    picture,
    avatar_url: picture,
    email,
    email_verified: verified,
    phone_verified: false,
    custom_claims: Object.keys(custom).length > 0 ? custom : undefined,
  });
  return { provider, sub, email: email.toLowerCase(), verified, data };
}

/** Without what the token leaves out: what Auth knew of that before stays. */
function told(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function sha256(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
