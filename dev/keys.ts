/**
 * The fixed keys of `supabase start`, so that one `.env` serves both. They are public: whoever can reach the local
 * stack may do anything there.
 */
export const LOCAL_KEYS = {
  publishableKey: 'sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH',
  secretKey: 'sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz',
  jwtSecret: 'super-secret-jwt-token-with-at-least-32-characters-long',
} as const;
