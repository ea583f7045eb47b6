import type { HonoContext } from '@supabase/lite';

/** Lite's implementation of Auth. Each request has a separate instance. */
export type AuthService = HonoContext['Variables']['authService'];
export type Repository = AuthService['repo'];
export type User = NonNullable<Awaited<ReturnType<Repository['findUserById']>>>;

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
