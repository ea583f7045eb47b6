import { hash, randomInt } from 'node:crypto';
import { z } from 'zod';
import { authError } from './auth-errors.ts';
import { type AuthService, atomically, isBanned, privateAuth, type User } from './lite.ts';

/** Length of mailed codes, as in supabase/config.toml. */
export const codeDigits = 8;

const text = z.string().default('');
export const Recover = z.object({ email: text });
export const Verify = z.object({ type: text, email: text, token: text });

/** Mails a code for a new password. The response does not reveal whether the account exists. */
export async function recover(service: AuthService, { email }: z.infer<typeof Recover>): Promise<object> {
  const user = await service.repo.findUserByEmail(email.toLowerCase());
  requireGap(service, user?.recovery_sent_at);
  // Lite rejects invalid addresses and ignores unknown ones.
  await atomically(service, () => service.recover(email));
  return {};
}

/** Mails a new confirmation code, if the account is unconfirmed. */
export async function resendSignUp(service: AuthService, { email }: z.infer<typeof Recover>): Promise<object> {
  const user = await service.repo.findUserByEmail(email.toLowerCase());
  if (user && !user.email_confirmed_at) await sendConfirmation(service, user);
  else await service.resend('signup', email);
  return {};
}

/**
 * Opens a session with the code of a mail.
 * @throws AuthError `otp_expired` for an unknown address, and for a code that is wrong, used or older than an hour
 */
export async function verify(service: AuthService, { type, email, token }: z.infer<typeof Verify>) {
  const user = await service.repo.findUserByEmail(email.toLowerCase());
  if (isBanned(user)) throw authError(403, 'user_banned', 'User is banned');
  confirmFirst(service);
  const session = await service.verifyOtp({ type, email, token });
  // Invalidate the confirmation code, because a recovery code also confirms the address.
  await service.repo.updateUser(session.user.id, { confirmation_token: null });
  return session;
}

/** Confirms the user before its identities, as Auth does, because triggers see the order. */
function confirmFirst(service: AuthService): void {
  const complete = privateAuth(service).completeVerifyOtp.bind(service);
  privateAuth(service).completeVerifyOtp = async (user: User, ...rest: unknown[]) => {
    if (!user.email_confirmed_at)
      await service.repo.updateUser(user.id, { confirmed_at: new Date().toISOString() } as Partial<User>);
    return complete(user, ...rest);
  };
}

/** Draws a code. `token` is what the database keeps of it, as in Lite. */
export function newCode(email: string): { code: string; token: string } {
  const code = String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
  return { code, token: hash('sha256', email + code) };
}

/**
 * Mails a new code to an unconfirmed account. The former code becomes invalid.
 * @throws AuthError if the last mail is too recent, or the project has reached its limit of mails
 */
export async function sendConfirmation(service: AuthService, user: User): Promise<void> {
  requireGap(service, user.confirmation_sent_at);
  const email = user.email ?? '';
  const { code, token } = newCode(email);
  await service.repo.transaction(async (repository) => {
    const confirmation_sent_at = new Date().toISOString();
    await repository.updateUser(user.id, { confirmation_token: token, confirmation_sent_at });
    await privateAuth(service).mailer.sendConfirmation(email, token, code, { userId: user.id });
  });
}

/** Limits how often mails are sent. @throws AuthError if the last mail of this kind is too recent */
function requireGap(service: AuthService, sentAt: string | null | undefined): void {
  if (!sentAt) return;
  const gapMs = Number.parseInt(privateAuth(service).config.email?.max_frequency ?? '', 10) * 1000;
  const leftMs = Date.parse(sentAt) + gapMs - Date.now();
  if (leftMs <= 0) return;
  const message = `For security purposes, you can only request this after ${Math.floor(leftMs / 1000)} seconds.`;
  throw authError(429, 'over_email_send_rate_limit', message);
}
