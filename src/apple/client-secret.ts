import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Config } from '../config/config.ts';

/** Audience of client secrets, whatever address they are sent to. */
const audience = 'https://appleid.apple.com';

/** Lifetime in seconds. Apple allows six months, but a secret is used at once. */
const lifetimeSeconds = 300;

/**
 * Signs the secret with which a client of the team calls Apple.
 * @see https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */
export function signClientSecret(
  { teamId, keyId }: NonNullable<Config['apple']>,
  key: KeyObject,
  clientId: string,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(key);
}
