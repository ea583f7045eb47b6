import { hash } from 'node:crypto';
import { type CryptoKey, type JWK, SignJWT } from 'jose';

/** Identity providers with their real issuers. Their client ids (audiences of tokens) exist only on local stacks. */
export const idTokenProviders = {
  google: { issuer: 'https://accounts.google.com', clientId: 'local-supabase' },
  apple: { issuer: 'https://appleid.apple.com', clientId: 'local-supabase' },
} as const;

export type Provider = keyof typeof idTokenProviders;

/** Signature algorithm. Google and Apple use RS256, which needs longer keys. */
export const idTokenAlgorithm = 'ES256';

export const idTokenPublicKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'n7n4o5bp_V6eGqwEejhh2C1raG-u5n9f5FUeXQrA0wk',
  y: 'pAuK7SxIIT42Nqsna0b8zQHtxbHtCz3J9DmMY0ERtmg',
} as const satisfies JWK;

// This key is public, like the local API keys. Only local stacks accept its tokens.
const idTokenPrivateKey: JWK = { ...idTokenPublicKey, d: '2YLQNjiZunjIXUY5WlaO5lpzNZF1Tj4ZRqz5_QoGwSY' };

export interface IdTokenOptions {
  /** Default: google. */
  provider?: Provider | undefined;
  email?: string | undefined;
  /** True if the provider has verified the address. Default: true. */
  emailVerified?: boolean | undefined;
  name?: string | undefined;
  picture?: string | undefined;
  /** Id of the user at the provider. Default: a hash of the address. */
  sub?: string | undefined;
  /** Nonce that the app passes to Auth. The token contains its hash. */
  nonce?: string | undefined;
  /** Claims that replace others. Undefined removes a claim. */
  claims?: Record<string, unknown>;
  /** ES256 key that signs the token. Default: the key of the provider. */
  key?: CryptoKey;
}

/** Creates an ID token as the native sign-in of a provider does. Without options, it is valid on local stacks. */
export function makeIdToken(options: IdTokenOptions = {}): Promise<string> {
  const { provider = 'google', email, nonce } = options;
  const { issuer, clientId } = idTokenProviders[provider];
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: clientId,
    sub: options.sub ?? hash('sha256', `${provider} ${(email ?? '').toLowerCase()}`).slice(0, 32),
    email,
    email_verified: email === undefined ? undefined : (options.emailVerified ?? true),
    name: options.name,
    picture: options.picture,
    nonce: nonce === undefined ? undefined : hash('sha256', nonce),
    iat: now,
    exp: now + 3600,
    ...options.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: idTokenAlgorithm, typ: 'JWT' })
    .sign(options.key ?? idTokenPrivateKey);
}
