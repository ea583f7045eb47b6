import { type JWTPayload, SignJWT } from 'jose';

/** Secret that fake-supabase.ts shares with its gateway, so that tokens need no key set. */
export const sharedSecret = 'what a made-up project shares with its gateway';

/** An access token that a gateway in front of such a server takes, of a user whom no Supabase knows, and who has just signed in. */
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
