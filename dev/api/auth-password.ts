import { z } from 'zod';
import { type AuthService, atomically } from './auth-lite.ts';
import { requireShortPassword } from './auth-service.ts';

export const Change = z.object({
  password: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Sets a new password and ends all other sessions.
 * @param sessionId of the session that stays
 * @returns the user
 */
export function changePassword(
  service: AuthService,
  { userId, sessionId }: { userId: string; sessionId: string | undefined },
  { password = '', data }: z.infer<typeof Change>,
) {
  requireShortPassword(password);
  service['assertPasswordStrong'](password);
  return atomically(service, async (repository) => {
    const user = await service.updateUser(userId, data ? { password, data } : { password });
    await repository.deleteRefreshTokensForUser(userId, sessionId);
    await repository.deleteUserSessions(userId, sessionId);
    return user;
  });
}
