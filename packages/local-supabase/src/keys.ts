/** Public keys of `supabase start`, so that one `.env` works for both stacks. They give full access to a stack. */
export const localKeys = {
  publishableKey: 'sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH',
  secretKey: 'sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz',
  /** Signs legacy API keys. The data API also accepts tokens of users that are signed with it. */
  jwtSecret: 'super-secret-jwt-token-with-at-least-32-characters-long',
} as const;

export type LocalKeys = Readonly<Record<keyof typeof localKeys, string>>;

/** Public half of the key pair that signs access tokens. */
export const publicSigningKey = {
  kty: 'EC',
  kid: 'b81269f1-21d8-4f2e-b719-c2240a840d90',
  use: 'sig',
  key_ops: ['verify'],
  alg: 'ES256',
  ext: true,
  crv: 'P-256',
  x: 'M5Sjqn5zwC9Kl1zVfUUGvv9boQjCGd45G8sdopBExB4',
  y: 'P6IXMvA2WYXSHSOMTBH2jsw_9rrzGy89FjPf6oOsIxQ',
};

/** Private half of the key pair. It is as public as the keys above. */
export const privateSigningKey = {
  ...publicSigningKey,
  key_ops: ['sign'],
  d: 'dIhR8wywJlqlua4y_yMq2SLhlFXDZJBCvFrY1DCHyVU',
};
