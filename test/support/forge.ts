import { privateSigningKey } from '@sounds-service/local-supabase/keys';
import { type JWTPayload, SignJWT } from 'jose';
import { inject, type TestContext } from 'vitest';

/** Reason for skipping a test that needs a token that Auth does not issue. */
const cannotForge = 'Set TEST_SUPABASE_JWT_SECRET, if the project signs tokens with a shared secret.';

export type Skip = TestContext['skip'];

/** Signs claims as the project of this run does. Skips the test with a reason if this is not possible. */
export function forge(skip: Skip, claims: JWTPayload): Promise<string> {
  const { forging: alg, jwtSecret } = inject('stack');
  if (alg === null) return skip(cannotForge);
  const key = alg === 'HS256' ? new TextEncoder().encode(jwtSecret) : privateSigningKey;
  const { kid } = privateSigningKey;
  const header = { alg, typ: 'JWT', ...(alg === 'ES256' && { kid }) };
  return new SignJWT(claims).setProtectedHeader(header).sign(key);
}
