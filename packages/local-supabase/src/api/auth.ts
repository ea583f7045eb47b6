import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { authError, errorResponse, isAuthError, unexpectedFailure } from './auth-errors.ts';
import { signInFromOutside } from './auth-external.ts';
import { IdTokenGrant, verifyIdToken } from './auth-id-token.ts';
import { refresh, signIn, signUp, signUpGuest } from './auth-service.ts';
import type { AuthService } from './lite.ts';

const SignUp = z.object({
  email: z.string().default(''),
  password: z.string().default(''),
  data: z.record(z.string(), z.unknown()).nullish(),
});
const PasswordGrant = z.object({ email: z.string().default(''), password: z.string().default('') });
const RefreshGrant = z.object({ refresh_token: z.string().default('') });

/** Handlers by method and path. Lite handles a request whose handler returns undefined. */
export type Routes = Record<string, (service: AuthService, c: Context) => Promise<object | undefined>>;

/** Serves `routes`. Sends a result as JSON unless it is a Response. */
export function answering(routes: Routes): MiddlewareHandler<HonoContext> {
  return async (c, next) => {
    const route = routes[`${c.req.method} ${c.req.path.replace(/^\/auth\/v1/, '')}`];
    try {
      const answer = await route?.(c.get('authService'), c);
      if (answer === undefined) return await next();
      return answer instanceof Response ? answer : c.json(answer);
    } catch (error) {
      return toErrorResponse(error);
    }
  };
}

/** Routes for sign-up and the grants of /token, as in Supabase Auth. */
export const signInRoutes = (emailSignIn: boolean, anonymousSignIns: boolean): Routes => ({
  async 'POST /signup'(service, c) {
    const { email, password, data } = await body(c, SignUp);
    if (email === '' && anonymousSignIns) return signUpGuest(service, data ?? {});
    return signUp(service, email, password, data ?? {});
  },
  async 'POST /token'(service, c) {
    switch (c.req.query('grant_type')) {
      case 'password': {
        const { email, password } = await body(c, PasswordGrant);
        if (email && !emailSignIn) throw authError(422, 'email_provider_disabled', 'Email logins are disabled');
        return signIn(service, email, password);
      }
      case 'refresh_token':
        return refresh(service, (await body(c, RefreshGrant)).refresh_token);
      case 'id_token':
        return signInFromOutside(service, await verifyIdToken(await body(c, IdTokenGrant)));
      case 'web3':
        throw authError(422, 'web3_provider_disabled', 'Web3 provider is disabled');
      default:
        return undefined;
    }
  },
});

/** Adds Google and Apple to the enabled providers in the settings, because Lite does not support ID tokens. */
export const publishedSettings: MiddlewareHandler<HonoContext> = async (c, next) => {
  await next();
  if (c.req.path !== '/auth/v1/settings' || c.res.status !== 200) return;
  const settings = (await c.res.json()) as { external: object };
  c.res = c.json({ ...settings, external: { ...settings.external, google: true, apple: true } });
};

/** Returns the response to an error. Prints unexpected errors. */
export function toErrorResponse(error: unknown): Response {
  if (error instanceof HTTPException) return error.getResponse();
  if (isAuthError(error)) return errorResponse(error);
  console.error('Auth error:', error);
  return errorResponse(unexpectedFailure());
}

/** Reads a request's JSON. @throws AuthError if it is invalid or does not match the schema */
export async function body<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const json = await c.req.json().catch(() => {
    throw authError(400, 'bad_json', 'Could not parse request body as JSON: invalid character');
  });
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw authError(400, 'bad_json', `Could not parse request body as JSON: ${issue?.message}`);
}
