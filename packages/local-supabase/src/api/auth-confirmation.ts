import { createHash, randomInt } from 'node:crypto';
import { AuthError } from './auth-errors.ts';
import type { AuthService, User } from './auth-lite.ts';

/** How long mailed codes are; as supabase/config.toml has it. */
export const CODE_DIGITS = 8;

/**
 * Mails a new code to an account that is not confirmed, instead of the one it had.
 * @throws AuthError when the last one is too young, or the project may send no more mails
 */
export async function sendConfirmation(service: AuthService, user: User): Promise<void> {
  requireGap(service, user.confirmation_sent_at);
  const email = user.email ?? '';
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
  // As Lite hashes those that it makes itself.
  const hash = createHash('sha256')
    .update(email + code)
    .digest('hex');
  await service.repo.transaction(async (repository) => {
    const confirmation_sent_at = new Date().toISOString();
    await repository.updateUser(user.id, { confirmation_token: hash, confirmation_sent_at });
    await service['mailer'].sendConfirmation(email, hash, code, { userId: user.id });
  });
}

/** @throws AuthError when the last mail of its kind was sent too short a time ago */
export function requireGap(service: AuthService, sentAt: string | null | undefined): void {
  if (!sentAt) return;
  const gapMs = Number.parseInt(service['config'].email?.max_frequency ?? '', 10) * 1000;
  const leftMs = Date.parse(sentAt) + gapMs - Date.now();
  if (leftMs <= 0) return;
  const message = `For security purposes, you can only request this after ${Math.floor(leftMs / 1000)} seconds.`;
  throw new AuthError(429, 'over_email_send_rate_limit', message);
}
