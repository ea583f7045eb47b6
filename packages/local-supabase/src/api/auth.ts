import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { AuthError, errorResponse, isAuthError, OAuthError, unexpectedFailure } from './auth-errors.ts';
import { signInFromOutside } from './auth-external.ts';
import { IdTokenGrant, verifyIdToken } from './auth-id-token.ts';
import type { AuthService } from './auth-lite.ts';
import { refresh, signIn, signUp } from './auth-service.ts';

const SignUp = z.object({
  email: z.string().default(''),
  password: z.string().default(''),
  data: z.record(z.string(), z.unknown()).nullish(),
});
const PasswordGrant = z.object({ email: z.string().default(''), password: z.string().default('') });
const RefreshGrant = z.object({ refresh_token: z.string().default('') });

/** What a project allows. */
export interface SignInSettings {
  /** With e-mail address and password. */
  emailSignIn: boolean;
}

/** The grants that are answered here rather than by Lite; each reads its own body. */
const GRANTS: Record<
  string,
  (service: AuthService, c: Context, settings: SignInSettings) => Promise<unknown>
> = {
  async password(service, c, { emailSignIn }) {
    const { email, password } = await body(c, PasswordGrant);
    if (email && !emailSignIn)
      throw new AuthError(422, 'email_provider_disabled', 'Email logins are disabled');
    return signIn(service, email, password);
  },
  async refresh_token(service, c) {
    const { refresh_token } = await body(c, RefreshGrant);
    return refresh(service, refresh_token);
  },
  async id_token(service, c) {
    return signInFromOutside(service, await verifyIdToken(await body(c, IdTokenGrant)));
  },
};

/** Sign-up and the grants of /token, answered as Supabase Auth does. */
export function authRoutes(settings: SignInSettings): MiddlewareHandler<HonoContext> {
  return async (c, next) => {
    const service = c.get('authService');
    const grant = c.req.path === '/auth/v1/token' ? GRANTS[c.req.query('grant_type') ?? ''] : undefined;
    if (c.req.method !== 'POST' || !(grant || c.req.path === '/auth/v1/signup')) return next();
    try {
      if (grant) return c.json(await grant(service, c, settings));
      const { email, password, data } = await body(c, SignUp);
      return c.json(await signUp(service, email, password, data ?? {}));
    } catch (error) {
      return toErrorResponse(error);
    }
  };
}

/** Names the providers whose ID tokens are taken here among the settings; Lite has other ways to sign in with them, all off. */
export const publishedSettings: MiddlewareHandler<HonoContext> = async (c, next) => {
  await next();
  if (c.req.path !== '/auth/v1/settings' || c.res.status !== 200) return;
  const settings = (await c.res.json()) as { external: object };
  c.res = c.json({ ...settings, external: { ...settings.external, google: true, apple: true } });
};

/** The answer to whatever went wrong; what Auth has no word for is printed. */
export function toErrorResponse(error: unknown): Response {
  if (isAuthError(error)) return errorResponse(error);
  if (error instanceof OAuthError)
    return Response.json({ error: error.error, error_description: error.message }, { status: 400 });
  console.error('Auth error:', error);
  return errorResponse(unexpectedFailure());
}

/** Reads a request's JSON. @throws AuthError when it is none, or not of this shape */
export async function body<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(parseJson(await c.req.text()));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AuthError(400, 'bad_json', `Could not parse request body as JSON: ${issue?.message}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AuthError(400, 'bad_json', 'Could not parse request body as JSON: invalid character');
  }
}
