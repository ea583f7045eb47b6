import { createHash } from 'node:crypto';
import { type CryptoKey, type JWK, SignJWT } from 'jose';

/**
 * The identity providers whose ID tokens Auth takes here, under the names and issuers that they have everywhere; their
 * client ids, which are the audience of the tokens, are those of an app that exists only on this machine.
 */
export const PROVIDERS = {
  google: { issuers: ['https://accounts.google.com'], clientIds: ['sounds-service-local'] },
  apple: {
    issuers: ['https://appleid.apple.com', 'https://account.apple.com'],
    clientIds: ['sounds-service-local'],
  },
} as const satisfies Record<string, { issuers: readonly string[]; clientIds: readonly string[] }>;

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
  audience?: string | string[] | undefined;
  issuer?: string | undefined;
  /** Seconds from now, an hour unless given; negative for a token that has expired. */
  expiresIn?: number | undefined;
  /** Put over all the others; undefined takes a claim away. */
  claims?: Record<string, unknown>;
  /** An ES256 key that is not the provider's. */
  key?: CryptoKey;
}

/** An ID token as the native sign-in of a provider gives it to an app; valid on local stacks unless asked otherwise. */
export function makeIdToken(options: IdTokenOptions = {}): Promise<string> {
  const { provider = 'google', email, nonce } = options;
  const { issuers, clientIds } = PROVIDERS[provider];
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: options.issuer ?? issuers[0],
    aud: options.audience ?? clientIds[0],
    sub: options.sub ?? subjectOf(provider, email ?? ''),
    email,
    email_verified: email === undefined ? undefined : (options.emailVerified ?? true),
    name: options.name,
    picture: options.picture,
    nonce: nonce === undefined ? undefined : createHash('sha256').update(nonce).digest('hex'),
    iat: now,
    exp: now + (options.expiresIn ?? 3600),
    ...options.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .sign(options.key ?? PRIVATE_KEY);
}

function subjectOf(provider: Provider, email: string): string {
  return createHash('sha256').update(`${provider} ${email.toLowerCase()}`).digest('hex').slice(0, 32);
}
