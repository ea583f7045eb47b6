import { type JWTPayload, SignJWT } from 'jose';
import { PRIVATE_SIGNING_KEY } from 'local-supabase/keys';
import { inject, type TestContext } from 'vitest';

/** Why a test is skipped that needs a token which Auth would not give. */
export const cannotForge = 'Set TEST_SUPABASE_JWT_SECRET, if the project signs tokens with a shared secret.';

/** Skips a test that cannot run. */
export type Skip = TestContext['skip'];

type Key = { forging: 'ES256' | 'HS256'; secret: string };

/** Signs claims, which are complete, with the key pair of local stacks or a shared secret. */
export function forgeWith({ forging, secret }: Key, claims: JWTPayload): Promise<string> {
  const typ = 'JWT';
  const token = new SignJWT(claims);
  if (forging === 'HS256') {
    return token.setProtectedHeader({ alg: forging, typ }).sign(new TextEncoder().encode(secret));
  }
  const { kid } = PRIVATE_SIGNING_KEY;
  return token.setProtectedHeader({ alg: forging, kid, typ }).sign(PRIVATE_SIGNING_KEY);
}

/** Signs claims as the project of this run does; skips the test, with the reason, where that cannot be done here. */
export function forge(skip: Skip, claims: JWTPayload): Promise<string> {
  const { forging, jwtSecret } = inject('stack');
  if (forging === null) return skip(cannotForge);
  return forgeWith({ forging, secret: jwtSecret }, claims);
}
