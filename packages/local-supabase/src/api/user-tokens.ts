import {
  type CompactVerifyGetKey,
  createLocalJWKSet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
  SignJWT,
} from 'jose';
import { LOCAL_KEYS, PRIVATE_SIGNING_KEY, PUBLIC_SIGNING_KEY } from '../keys.ts';

/** What a project signs access tokens with: a key pair, as new projects do, or the secret it shares with its users. */
export type SigningAlgorithm = 'ES256' | 'HS256';

const secret = new TextEncoder().encode(LOCAL_KEYS.jwtSecret);
const published = createLocalJWKSet({ keys: [PUBLIC_SIGNING_KEY] });

/** Signs the claims, which are complete, as Auth does. */
export function signToken(claims: JWTPayload, algorithm: SigningAlgorithm): Promise<string> {
  const token = new SignJWT(claims);
  if (algorithm === 'HS256') return token.setProtectedHeader({ alg: algorithm, typ: 'JWT' }).sign(secret);
  const { kid } = PRIVATE_SIGNING_KEY;
  return token.setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' }).sign(PRIVATE_SIGNING_KEY);
}

/**
 * What a token must be signed with: the published key or, as `supabase start` has it besides, the shared secret, which has no id.
 * @throws what jose throws where no key fits
 */
export const verifyingKey: CompactVerifyGetKey & JWTVerifyGetKey = (header, jws) =>
  header.alg === 'HS256' && header.kid === undefined ? secret : published(header, jws);

/**
 * Verifies a token of a user, or a legacy API key.
 * @throws what jose throws
 */
export function verifyToken(token: string): Promise<JWTVerifyResult> {
  return jwtVerify(token, verifyingKey, { algorithms: ['ES256', 'HS256'] });
}

/** The same request with a token of the shared secret, the only key that Lite knows; the claims must be verified. */
export async function forLite(request: Request, claims: JWTPayload): Promise<Request> {
  const copy = new Request(request.url, request);
  copy.headers.set('Authorization', `Bearer ${await signToken(claims, 'HS256')}`);
  return copy;
}
