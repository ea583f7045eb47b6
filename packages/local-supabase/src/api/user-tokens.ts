import {
  type CompactVerifyGetKey,
  createLocalJWKSet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
  SignJWT,
} from 'jose';
import { localKeys, privateSigningKey, publicSigningKey } from '../keys.ts';

/** Algorithm of access tokens: a key pair, as in new projects, or the shared secret. */
export type SigningAlgorithm = 'ES256' | 'HS256';

const secret = new TextEncoder().encode(localKeys.jwtSecret);
const published = createLocalJWKSet({ keys: [publicSigningKey] });

/** Signs claims without adding any. */
export function signToken(claims: JWTPayload, algorithm: SigningAlgorithm): Promise<string> {
  const token = new SignJWT(claims);
  if (algorithm === 'HS256') return token.setProtectedHeader({ alg: algorithm, typ: 'JWT' }).sign(secret);
  const { kid } = privateSigningKey;
  return token.setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' }).sign(privateSigningKey);
}

/**
 * Returns the key that verifies a token: the published one, or the shared secret for HS256 without a key id.
 * @throws an error of jose if no key fits
 */
export const verifyingKey: CompactVerifyGetKey & JWTVerifyGetKey = (header, jws) =>
  header.alg === 'HS256' && header.kid === undefined ? secret : published(header, jws);

/**
 * Verifies a user's token or a legacy API key.
 * @throws an error of jose
 */
export function verifyToken(token: string): Promise<JWTVerifyResult> {
  return jwtVerify(token, verifyingKey, { algorithms: ['ES256', 'HS256'] });
}

/** Copies a request with a token signed by the shared secret, the only key of Lite. The claims must be verified. */
export async function forLite(request: Request, claims: JWTPayload): Promise<Request> {
  const copy = new Request(request.url, request);
  copy.headers.set('Authorization', `Bearer ${await signToken(claims, 'HS256')}`);
  return copy;
}
