import type { CallOptions } from './call.ts';
import type { SoundsError } from './error.ts';
import type { DeviceSession } from './session.ts';

/** Values that Apple gave the app at a sign-in right before the deletion of an account. */
export interface AppleCode {
  /** Authorization code, which can be used once and within five minutes. */
  appleAuthorizationCode?: string | undefined;
  /** Services ID that the code was made for, on Android and the web. Default: the bundle id of the app. */
  appleClientId?: string | undefined;
  /** Redirect URI that the code was made with, on Android and the web. */
  appleRedirectUri?: string | undefined;
}

/**
 * Revokes the user's tokens at Apple, in one attempt, because a code can be used only once.
 * @returns false for every failure, because the account is deleted in any case
 * @throws SoundsError `recent_sign_in_required`, because the deletion would be rejected, too
 */
export async function revokeApple(
  session: DeviceSession,
  userId: string | undefined,
  { appleAuthorizationCode = '', appleClientId, appleRedirectUri }: AppleCode,
  { signal = null }: { signal?: CallOptions['signal'] | null } = {},
): Promise<boolean> {
  const body = {
    authorization_code: appleAuthorizationCode,
    ...(appleClientId !== undefined && { client_id: appleClientId }),
    ...(appleRedirectUri !== undefined && { redirect_uri: appleRedirectUri }),
  };
  try {
    await session.api({ userId, repeatable: false }).POST('/me/apple/revocation', { body, signal });
    return true;
  } catch (error) {
    if ((error as SoundsError).reason === 'recent_sign_in_required') throw error;
    return false;
  }
}
