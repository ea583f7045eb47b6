import type { Accounts } from './accounts.ts';
import { type CallOptions, signalOf } from './call.ts';
import type { SoundsError } from './error.ts';
import { type AppleCode, revokeApple } from './revoke-apple.ts';
import type { DeviceSession } from './session.ts';
import { createSignIn } from './sign-in.ts';

/** A new password, and the present one unless a mailed code was verified. */
export interface NewPassword {
  password: string;
  currentPassword?: string | undefined;
}

/** Sends with a session. `mayBeDone` returns true if an attempt may have succeeded although its response was lost. */
function repeating(sender: DeviceSession, userId?: string) {
  let mayBeDone = false;
  const onRepeat = ({ code }: SoundsError) => {
    mayBeDone ||= code !== 'rate_limited';
  };
  return { api: sender.api({ userId, onRepeat }), mayBeDone: () => mayBeDone };
}

/** Implements `auth.setPassword`. */
export async function setPassword(
  accounts: Accounts,
  { password, currentPassword }: NewPassword,
  options?: CallOptions,
): Promise<void> {
  const { session, recovery } = accounts;
  const email = (await session.load())?.user.email;
  if (!recovery && currentPassword !== undefined && email)
    await createSignIn(accounts).signIn({ email, password: currentPassword }, options);
  const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
  const { api, mayBeDone } = repeating(recovery ?? session);
  try {
    await api.POST('/auth/password', { body, ...signalOf(options) });
  } catch (error) {
    // `same_password` after a lost response means that the password was set.
    if (!(mayBeDone() && (error as SoundsError).reason === 'same_password')) throw error;
  }
  const recovered = await recovery?.load();
  if (!recovered) return;
  accounts.recovery = null;
  await session.begin(recovered);
}

/** Implements `auth.deleteAccount`. */
export async function deleteAccount(
  accounts: Accounts,
  apple: AppleCode = {},
  options?: CallOptions,
): Promise<{ appleRevoked: boolean }> {
  const { session } = accounts;
  const user = (await session.load())?.user;
  const appleRevoked = !!apple.appleAuthorizationCode && (await revokeApple(session, user?.id, apple, options));
  const { api, mayBeDone } = repeating(session, user?.id);
  try {
    await api.DELETE('/me', signalOf(options));
  } catch (error) {
    // A 401 after a lost response means that the account was deleted, if its session has ended.
    const isOver = (await session.load()) === null;
    if (!(mayBeDone() && isOver && (error as SoundsError).code === 'unauthorized')) throw error;
  }
  await session.end('deleted');
  if (user) await removeUnsent(accounts, user.id);
  return { appleRevoked };
}

/** Removes the unsent changes of a user, and the guests that wait for the user with theirs. */
async function removeUnsent({ data, guests }: Accounts, userId: string): Promise<void> {
  const ids = [userId, ...Object.keys(await guests.read(userId))];
  for (const { forget } of [...data.unsent, guests]) for (const id of ids) await forget(id);
}
