import type { App, HonoContext } from '@supabase/lite';
import type { Kysely } from 'kysely';
import type { ObjectFiles } from './objects.ts';

// Names every private member of Supabase Lite that the emulator uses. test/lite.test.ts fails if one is gone.

/** Lite's implementation of Auth. Each request has a separate instance. */
export type AuthService = HonoContext['Variables']['authService'];
export type Repository = AuthService['repo'];
export type User = NonNullable<Awaited<ReturnType<Repository['findUserById']>>>;

type Identities = Awaited<ReturnType<Repository['findIdentitiesByUserId']>>;
type ParsedUser = ReturnType<Repository['parseUserJson']>;

/** Decision of Lite about an identity: its user, or the address of a new account. */
export type Linking =
  | { decision: 'AccountExists'; user: User; identity: { id: string } }
  | { decision: 'LinkAccount'; user: User }
  | { decision: 'MultipleAccounts' }
  | { decision: 'CreateAccount'; candidateEmail: { email: string } };

interface PrivateAuth {
  config: { email: { enable_confirmations?: boolean; max_frequency?: string } };
  mailer: {
    sendConfirmation(email: string, tokenHash: string, code: string, options: { userId: string }): Promise<void>;
  };
  assertPasswordStrong(password: string): void;
  completeVerifyOtp(user: User, ...rest: unknown[]): Promise<unknown>;
  createRefreshResponse(user: User, sessionId: string, token: string, now: string): Promise<object>;
  createSessionForUser(
    user: ParsedUser,
    identities: Identities,
    kind: 'user',
    options: { provider: string },
  ): Promise<object>;
  determineAccountLinking(
    addresses: { email: string; verified: boolean; primary: boolean }[],
    provider: string,
    sub: string,
  ): Promise<Linking>;
  mapUserToResponse(user: ParsedUser, identities: Identities, kind: 'signup'): object;
  removeUnconfirmedIdentities(userId: string, keptIdentityId: string, data: object): Promise<void>;
  updateUserMetaDataAndProviders(userId: string, data: object): Promise<void>;
}

/** Names of the private members of `AuthService`, for the test. */
export const privateAuthMembers: Record<keyof PrivateAuth, true> = {
  config: true,
  mailer: true,
  assertPasswordStrong: true,
  completeVerifyOtp: true,
  createRefreshResponse: true,
  createSessionForUser: true,
  determineAccountLinking: true,
  mapUserToResponse: true,
  removeUnconfirmedIdentities: true,
  updateUserMetaDataAndProviders: true,
};

export const privateAuth = (service: AuthService) => service as unknown as PrivateAuth;

/** Returns the connection of a repository. Within a transaction, it is the connection of the transaction. */
export const databaseOf = (repository: Repository) => (repository as unknown as { db: Kysely<unknown> }).db;

/** Lets Lite remove the files of objects that it deletes itself. */
export function setObjectFiles(app: App, files: ObjectFiles): void {
  app._storageAdapter = files as ObjectFiles & NonNullable<App['_storageAdapter']>;
}

/** Tells whether a user is currently banned. */
export function isBanned(user: User | null): boolean {
  return user?.banned_until != null && Date.parse(user.banned_until) > Date.now();
}

/** Runs several steps of Lite in one transaction. */
export async function atomically<T>(service: AuthService, run: (repository: Repository) => Promise<T>): Promise<T> {
  const outside = service.repo;
  try {
    return await outside.transaction((repository) => {
      service.repo = repository;
      return run(repository);
    });
  } finally {
    service.repo = outside;
  }
}
