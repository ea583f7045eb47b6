import { randomUUID } from 'node:crypto';
import bcrypt from 'bcryptjs';
import { sql } from 'kysely';
import { authError, isAuthError, unexpectedFailure } from './auth-errors.ts';
import { sendConfirmation } from './auth-mails.ts';
import { type AuthService, atomically, databaseOf, isBanned, privateAuth, type Repository, type User } from './lite.ts';
import { isDatabaseError } from './rest-errors.ts';

const banned = () => authError(400, 'user_banned', 'User is banned');
const invalidCredentials = () => authError(400, 'invalid_credentials', 'Invalid login credentials');

/** Rejects a password of more than 72 bytes, because bcrypt ignores the rest. */
export function requireShortPassword(password: string): void {
  if (Buffer.byteLength(password) <= 72) return;
  throw authError(400, 'validation_failed', 'Password cannot be longer than 72 characters');
}

/**
 * Signs up with e-mail and password.
 * @returns a session, or the bare user if the address must be confirmed first. For an address that has an account, that
 * user is a placeholder, so that the response does not reveal the account
 */
export async function signUp(service: AuthService, email: string, password: string, data: Record<string, unknown>) {
  requireShortPassword(password);
  try {
    const { session, user } = await atomically(service, (repository) => {
      insertLikeAuth(repository, data);
      return service.signUp(email, password, data);
    });
    return session ?? user;
  } catch (error) {
    const code = isAuthError(error) || isDatabaseError(error) ? error.code : undefined;
    // If confirmations are enabled, Lite uses this code for existing accounts, too.
    if (code === 'over_email_send_rate_limit') {
      const user = await service.repo.findUserByEmail(email.toLowerCase());
      if (user) return repeatedSignUp(service, user, data);
    }
    // Auth returns the same error to the second of two simultaneous sign-ups with one address.
    throw isDatabaseError(error) ? unexpectedFailure('Database error saving new user') : error;
  }
}

/**
 * Signs up with an address alone, if it must be confirmed: mails the code of a sign-up with a random password.
 * @returns undefined if Lite can mail the code of a sign-in, because the account is confirmed, or will be at once
 */
export async function signUpByMail(
  service: AuthService,
  email: string,
  data: Record<string, unknown>,
  mayCreate: boolean,
): Promise<object | undefined> {
  const user = email ? await service.repo.findUserByEmail(email.toLowerCase()) : null;
  const isNew = user ? !user.email_confirmed_at : mayCreate;
  if (!isNew || !privateAuth(service).config.email.enable_confirmations) return undefined;
  await signUp(service, email, randomUUID(), data);
  return {};
}

/** Signs up an anonymous user, who has no identity. @returns a session */
export async function signUpGuest(service: AuthService, data: Record<string, unknown>) {
  return await atomically(service, async (repository) => {
    const row = { id: randomUUID(), raw_app_meta_data: {}, raw_user_meta_data: data, is_anonymous: true };
    const user = await repository.createUser(row as Parameters<Repository['createUser']>[0]);
    const provider = 'anonymous';
    return privateAuth(service).createSessionForUser(repository.parseUserJson(user), [], 'user', { provider });
  });
}

/** Inserts the user unconfirmed, then completes the row, as Auth does, because triggers see both steps. */
function insertLikeAuth(repository: Repository, data: Record<string, unknown>): void {
  const createUser = repository.createUser.bind(repository);
  repository.createUser = async (user) => {
    const { raw_user_meta_data, confirmed_at = null, ...rest } = user;
    const created = await createUser({ ...rest, raw_user_meta_data: data });
    return (await repository.updateUser(user.id, { raw_user_meta_data, confirmed_at } as Partial<User>)) ?? created;
  };
}

async function repeatedSignUp(service: AuthService, user: User, data: Record<string, unknown>) {
  if (!user.email_confirmed_at) {
    await sendConfirmation(service, user);
    const identities = await service.repo.findIdentitiesByUserId(user.id);
    return privateAuth(service).mapUserToResponse(service.repo.parseUserJson(user), identities, 'signup');
  }
  return {
    id: randomUUID(),
    aud: 'authenticated',
    role: '',
    email: user.email,
    confirmation_sent_at: new Date().toISOString(),
    user_metadata: data,
    identities: [],
  };
}

/** Signs in with e-mail and password. Checks the ban before the password, and the confirmation after it. */
export async function signIn(service: AuthService, email: string, password: string) {
  const outside = service.repo;
  const user = email ? await outside.findUserByEmail(email) : null;
  if (isBanned(user)) throw banned();
  try {
    return await atomically(service, () => service.signInWithPassword(email, password));
  } catch (error) {
    if (isAuthError(error) && error.code === 'email_not_confirmed') {
      if (!(await bcrypt.compare(password, user?.encrypted_password ?? ''))) throw invalidCredentials();
    }
    throw error;
  }
}

/**
 * Exchanges a refresh token by the rules of supabase/auth for tokens of 12 characters. The previous token returns the
 * current one. Older tokens are valid for 10 s after their use; a later use revokes all tokens of the session, but the
 * current one stays valid for another 10 s.
 */
export async function refresh(service: AuthService, token: string) {
  const outside = service.repo;
  const known = await outside.findRefreshToken(token);
  if (known && isBanned(await outside.findUserById(known.user_id))) throw banned();
  const outcome = await atomically(service, async (repository) => {
    // Lock the session, so that parallel refreshes with one token get the same next token.
    if (known?.session_id)
      await sql`select from auth.sessions where id = ${known.session_id} for update`.execute(databaseOf(repository));
    return exchange(service, repository, token);
  });
  if (isAuthError(outcome)) throw outcome;
  return outcome;
}

// Value in supabase/config.toml and in new hosted projects.
const reuseIntervalMs = 10_000;

/** Exchanges a token. Returns an error, instead of throwing it, if the transaction must be committed. */
async function exchange(service: AuthService, repository: Repository, token: string) {
  const used = await repository.findRefreshToken(token);
  if (!used && /^[a-z0-9]{12}$/.test(token))
    throw authError(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
  if (!used?.revoked || !used.session_id) return service.refreshSession(token);
  const [user, family] = await Promise.all([
    repository.findUserById(used.user_id),
    repository.findRefreshTokensBySession(used.session_id),
  ]);
  const present = family.findLast(({ revoked }) => !revoked);
  if (user && present?.parent === token) {
    const now = new Date().toISOString();
    return privateAuth(service).createRefreshResponse(user, used.session_id, present.token, now);
  }
  if (Date.now() > Date.parse(used.updated_at) + reuseIntervalMs) {
    await repository.revokeRefreshTokensByIds(family.filter(({ revoked }) => !revoked).map(({ id }) => id));
    return authError(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used');
  }
  await sql`update auth.refresh_tokens set revoked = false where id = ${used.id}`.execute(databaseOf(repository));
  return service.refreshSession(token);
}
