import { SignJWT } from 'jose';
import { inject } from 'vitest';

/** A valid access token of a user whom Supabase does not know. */
export const token = () =>
  new SignJWT({ sub: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', role: 'authenticated' })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('authenticated')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(inject('stack').jwtSecret));
