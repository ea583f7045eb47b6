import { tokenRejected } from '../errors.ts';

export type Caller = UserCaller | KeyCaller;

export type UserCaller = Readonly<{
  via: 'jwt';
  userId: string;
  /** Access token, with which queries run as the user. */
  token: string;
  claims: Claims;
}>;

type Claims = Readonly<{
  email?: string | undefined;
  /** Id of the session at Auth. It survives refreshes. */
  sessionId?: string | undefined;
  /** Unix time in seconds of the last sign-in, 0 if unknown. A refresh or a second factor does not count. */
  signedInAt: number;
}>;

/** Caller with an API key. Every query verifies the key and finds its owner in the database. */
type KeyCaller = Readonly<{ via: 'api_key'; keyHash: string }>;

export const invalidToken = (cause?: unknown) =>
  tokenRejected('The access token or API key is invalid, expired or revoked.', { cause });

const recentSignInSeconds = 15 * 60;

/** Requires a recent sign-in for a purpose, so that a stolen session cannot take over the account. */
export function requireRecentSignIn({ claims }: UserCaller, purpose: string): void {
  if (Date.now() / 1000 - claims.signedInAt > recentSignInSeconds)
    throw tokenRejected(`Sign in again to ${purpose}.`, { reason: 'recent_sign_in_required' });
}
