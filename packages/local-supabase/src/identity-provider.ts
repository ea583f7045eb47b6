import { hash } from 'node:crypto';
import { type CryptoKey, type JWK, SignJWT } from 'jose';

/**
 * The identity providers whose ID tokens Auth takes here, under the names and issuers that they have everywhere; their
 * client id, which is the audience of the tokens, is that of an app that exists only on this machine.
 */
export const PROVIDERS = {
  google: { issuer: 'https://accounts.google.com', clientId: 'local-supabase' },
  apple: { issuer: 'https://appleid.apple.com', clientId: 'local-supabase' },
} as const;

export type Provider = keyof typeof PROVIDERS;

/** What the tokens are signed with. Google and Apple sign with RS256; a key for this one is shorter. */
export const ALGORITHM = 'ES256';

/** What proves that a token was made here. */
export const PUBLIC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'n7n4o5bp_V6eGqwEejhh2C1raG-u5n9f5FUeXQrA0wk',
  y: 'pAuK7SxIIT42Nqsna0b8zQHtxbHtCz3J9DmMY0ERtmg',
} as const satisfies JWK;

// Public like the local API keys, and worth nothing: only the stack on one's own machine believes what it signs.
const PRIVATE_KEY: JWK = { ...PUBLIC_KEY, d: '2YLQNjiZunjIXUY5WlaO5lpzNZF1Tj4ZRqz5_QoGwSY' };

/** Who the token is about, and what is unusual about it. */
export interface IdTokenOptions {
  /** Google unless said otherwise. */
  provider?: Provider | undefined;
  email?: string | undefined;
  /** Whether the provider knows that the address is theirs; true unless said otherwise. */
  emailVerified?: boolean | undefined;
  name?: string | undefined;
  picture?: string | undefined;
  /** The provider's name for the person; made from the address unless given, so that it is the same every time. */
  sub?: string | undefined;
  /** As the app passes it to Auth; the token holds its hash. */
  nonce?: string | undefined;
  /** Put over all the others; undefined takes a claim away. */
  claims?: Record<string, unknown>;
  /** An ES256 key that is not the provider's. */
  key?: CryptoKey;
}

/** An ID token as the native sign-in of a provider gives it to an app; valid on local stacks unless asked otherwise. */
export function makeIdToken(options: IdTokenOptions = {}): Promise<string> {
  const { provider = 'google', email, nonce } = options;
  const { issuer, clientId } = PROVIDERS[provider];
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
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .sign(options.key ?? PRIVATE_KEY);
}
