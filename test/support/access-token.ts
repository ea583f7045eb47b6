import { type JWTPayload, SignJWT } from 'jose';

/** Shared secret of fake-supabase.ts, so that tokens need no key set. */
export const sharedSecret = 'what a made-up project shares with its gateway';

/** Returns an access token for a gateway in front of fake-supabase.ts. Its user has no row in a database. */
export const token = (sub = '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', claims: JWTPayload = {}) =>
  new SignJWT({
    sub,
    role: 'authenticated',
    amr: [{ method: 'password', timestamp: Math.floor(Date.now() / 1000) }],
    ...claims,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('authenticated')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(sharedSecret));
