import bcrypt from 'bcryptjs';
import { z } from 'zod';
import { AuthError } from './auth-errors.ts';
import { type AuthService, atomically } from './auth-lite.ts';
import { requireShortPassword } from './auth-service.ts';

const DAY_MS = 86_400_000;

export const Change = z.object({
  password: z.string().optional(),
  current_password: z.string().default(''),
  data: z.record(z.string(), z.unknown()).optional(),
});

/** What a project may ask for before a password is changed; a session by a mailed code needs no old password. */
export interface PasswordRules {
  /** In the dashboard "Require current password when updating". */
  requireCurrentPassword?: boolean;
  /** "Secure password change": a session that was opened more than a day ago is not enough. */
  requireRecentSignIn?: boolean;
}

/**
 * Sets a new password and ends all other sessions.
 * @param sessionId of the session that stays
 * @returns the user
 */
export async function changePassword(
  service: AuthService,
  rules: PasswordRules,
  { userId, sessionId }: { userId: string; sessionId: string | undefined },
  { password = '', current_password, data }: z.infer<typeof Change>,
) {
  requireShortPassword(password);
  service['assertPasswordStrong'](password);
  const session = sessionId ? await service.repo.findSessionById(sessionId) : null;
  if (rules.requireRecentSignIn && !(Date.parse(session?.created_at ?? '') > Date.now() - DAY_MS)) {
    throw new AuthError(400, 'reauthentication_needed', 'Password update requires reauthentication');
  }
  const hash = (await service.repo.findUserById(userId))?.encrypted_password;
  if (rules.requireCurrentPassword && hash && session?.tag !== 'otp') {
    // One text for both.
    const message = 'Current password required when setting new password.';
    if (!current_password) throw new AuthError(400, 'current_password_required', message);
    if (!(await bcrypt.compare(current_password, hash))) {
      throw new AuthError(400, 'current_password_invalid', message);
    }
  }
  return atomically(service, async (repository) => {
    const user = await service.updateUser(userId, data ? { password, data } : { password });
    await repository.deleteRefreshTokensForUser(userId, sessionId);
    await repository.deleteUserSessions(userId, sessionId);
    return user;
  });
}
