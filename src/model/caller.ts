import { ApiError, tokenRejected } from '../errors.ts';

export type Caller = UserCaller | KeyCaller;

export interface UserCaller {
  readonly via: 'jwt';
  readonly userId: string;
  /** Access token, with which queries run as the user. */
  readonly token: string;
  readonly claims: Claims;
}

interface Claims {
  readonly email?: string | undefined;
  /** Id of the session at Auth. It survives refreshes. */
  readonly sessionId?: string | undefined;
  /** Unix time in seconds of the last sign-in, 0 if unknown. A refresh or a second factor does not count. */
  readonly signedInAt: number;
  /** True for an anonymous user of Auth. Its `signedInAt` is the beginning of the session. */
  readonly isGuest?: boolean;
}

/** Caller with an API key. Every query verifies the key and finds its owner in the database. */
interface KeyCaller {
  readonly via: 'api_key';
  readonly keyHash: string;
}

export const invalidToken = (cause?: unknown) =>
  tokenRejected('The access token or API key is invalid, expired or revoked.', { cause });

/** Requires a user with an account for a purpose, such as "change the password". @throws ApiError for a guest */
export function requireNoGuest({ claims }: UserCaller, purpose: string): void {
  if (claims.isGuest) throw new ApiError('invalid_request', `A guest cannot ${purpose}.`, { reason: 'guest' });
}

const recentSignInSeconds = 15 * 60;

/** Requires a recent sign-in for a purpose, so that a stolen session cannot take over the account. */
export function requireRecentSignIn({ claims }: UserCaller, purpose: string): void {
  if (Date.now() / 1000 - claims.signedInAt > recentSignInSeconds)
    throw tokenRejected(`Sign in again to ${purpose}.`, { reason: 'recent_sign_in_required' });
}
