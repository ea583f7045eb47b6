import { unauthorized } from '../errors.ts';

/** Who is calling, as proved by the credential of the request. */
export type Caller = UserCaller | KeyCaller;

export type UserCaller = Readonly<{
  via: 'jwt';
  userId: string;
  /** The credential itself: every query runs as its caller. */
  token: string;
  claims: Claims;
}>;

/** What is used of an access token besides its user. */
type Claims = Readonly<{
  email?: string | undefined;
  /** The id that Auth gives a session, which it keeps through refreshes. */
  sessionId?: string | undefined;
  /** When the user last signed in, in Unix seconds; 0 where the token does not tell. Neither a refresh nor a second factor is a sign-in. */
  signedInAt: number;
}>;

/** Whether the key is live, and whose it is, only the database knows: every query asks it anew. */
type KeyCaller = Readonly<{ via: 'api_key'; keyHash: string }>;

/** The 401 of a credential that was sent and is invalid, for whatever reason. */
export const invalidToken = (cause?: unknown) =>
  unauthorized('The access token or API key is invalid, expired or revoked.', { tokenCame: true, cause });

const recentSignInSeconds = 15 * 60;

/**
 * Keeps a session that was stolen, or left open, from taking the account over.
 * @param purpose what the user is told to sign in again for
 * @throws unauthorized recent_sign_in_required
 */
export function requireRecentSignIn({ claims }: UserCaller, purpose: string): void {
  if (Date.now() / 1000 - claims.signedInAt > recentSignInSeconds)
    throw unauthorized(`Sign in again to ${purpose}.`, {
      tokenCame: true,
      reason: 'recent_sign_in_required',
    });
}
