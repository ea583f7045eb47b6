import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Config, IdTokenProvider } from '../config.ts';
import { ApiError, serverError, unauthorized } from '../http/errors.ts';
import type { Fetch } from './fetch.ts';
import { createPasswordLine } from './password-line.ts';

// Auth is called over its REST API. The SDK's session methods were tried and are not made for a server: concurrent
// refreshes on one client can return another user's session, a refresh against a 503 blocks for half a minute, any 2xx
// passes for a sign-out, and the status or code of an error is lost wherever its body is not what the SDK expects.

const User = z.object({ id: z.string(), email: z.string().nullish() });
const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('bearer'),
  expires_at: z.number(),
  expires_in: z.number(),
  user: User,
});
export type Tokens = z.infer<typeof Tokens>;

/** What Auth answered when it refused: its code, or for OAuth-style errors its `error` word. */
class AuthRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(`Auth answered ${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

const RefusalBody = z.object({ code: z.string().optional(), error: z.string().optional() });

/** Whom the call is made for: the address that Auth limits by. */
export type Client = Readonly<{ ip: string | undefined }>;

const tooManyRequests = (cause: unknown) =>
  new ApiError('rate_limited', 'Too many attempts. Wait a minute and try again.', {
    cause,
    headers: { 'Retry-After': '60' },
  });

/**
 * The calls to Supabase Auth. Each resolves with what Auth gave or throws an ApiError chosen by Auth's error code;
 * Auth's own text is never passed on. 5xx, 409 and silence are server_error: they say nothing about the credential.
 */
export function createAuth({ supabase, secrets, passwordCallsAtOnce }: Config, fetch: Fetch) {
  const inPasswordLine = createPasswordLine(passwordCallsAtOnce);
  const inFlight = new Map<string, Promise<unknown>>();

  /**
   * Equal calls in flight share one: a double tap must not race itself for the rotation of a token or the making of an
   * account, where Auth answers the loser with an error.
   * @param sent everything that the client sent, so that nobody gets the session of another
   */
  function share<T>(path: string, sent: object, call: () => Promise<T>): Promise<T> {
    const key = createHash('sha256')
      .update(JSON.stringify([path, sent]))
      .digest('base64');
    const shared =
      (inFlight.get(key) as Promise<T> | undefined) ?? call().finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return shared;
  }

  async function post(path: string, { ip }: Client, init: { body?: unknown; bearer?: string }) {
    const response = await fetch(`${supabase.url}/auth/v1/${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Supabase-Api-Version': '2024-01-01',
        // With a secret key Auth trusts Sb-Forwarded-For and limits by the app user's address instead of ours.
        apikey: secrets.supabaseSecretKey,
        ...(ip !== undefined && { 'Sb-Forwarded-For': ip }),
        ...(init.bearer !== undefined && { Authorization: `Bearer ${init.bearer}` }),
      },
      body: JSON.stringify(init.body ?? {}),
    });
    const { status } = response;
    const body: unknown = await response.json().catch(() => undefined);
    if (status === 204 || (status === 200 && body !== undefined)) return body;
    if (status < 400) throw serverError(new Error(`Auth answered ${status} and no JSON`));
    const { data } = RefusalBody.safeParse(body);
    const refusal = new AuthRefusal(status, data?.code ?? data?.error ?? 'without a code');
    if (status === 429) throw tooManyRequests(refusal);
    // What is not in Auth's own form was said by something in front of it, and not about the credential.
    if (data === undefined || status >= 500 || status === 409 || refusal.code === 'server_error')
      throw serverError(refusal);
    throw refusal;
  }

  /** A body of a shape that Auth does not document is our failure, not the client's. */
  function expect<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
    const result = schema.safeParse(answer);
    if (!result.success) throw serverError(result.error);
    return result.data;
  }

  /** Turns a refusal with one of these codes into the error given; any other refusal is our failure. */
  function refused(thrown: unknown, choose: (refusal: AuthRefusal) => ApiError | undefined): never {
    if (!(thrown instanceof AuthRefusal)) throw thrown;
    throw choose(thrown) ?? serverError(thrown);
  }

  /** @returns tokens, or only the user when the e-mail address must be confirmed first. */
  async function signUp(
    { email, password, fullName }: { email: string; password: string; fullName: string | undefined },
    client: Client,
  ) {
    const body = { email, password, data: fullName === undefined ? {} : { full_name: fullName } };
    const call = () => inPasswordLine(() => post('signup', client, { body }));
    const answer = await share('signup', body, call).catch((thrown) =>
      refused(thrown, ({ code }) => {
        const message = signUpRefusals[code];
        return message === undefined ? undefined : new ApiError('invalid_request', message);
      }),
    );
    return expect(Tokens.or(User), answer);
  }

  /** @throws unauthorized: one text for an unknown address, a wrong password and a locked account. */
  async function signIn(credentials: { email: string; password: string }, client: Client) {
    const call = () => post('token?grant_type=password', client, { body: credentials });
    const answer = await inPasswordLine(call).catch((thrown) =>
      refused(thrown, ({ code }) => {
        if (code === 'email_not_confirmed') return unauthorized('Confirm your e-mail address first.');
        if (code === 'email_provider_disabled')
          return unauthorized('Signing in with an e-mail address is switched off.');
        if (['invalid_credentials', 'user_banned', 'validation_failed'].includes(code)) {
          return unauthorized('The e-mail address or the password is wrong.');
        }
        return undefined;
      }),
    );
    return expect(Tokens, answer);
  }

  /** @throws unauthorized for whatever Auth finds wrong with the ID token, its nonce or its account. */
  async function exchangeIdToken(
    { provider, idToken, nonce }: { provider: IdTokenProvider; idToken: string; nonce: string | undefined },
    client: Client,
  ) {
    const body = { provider, id_token: idToken, ...(nonce !== undefined && { nonce }) };
    const call = () => post('token?grant_type=id_token', client, { body });
    const answer = await share('id_token', body, call).catch((thrown) =>
      refused(thrown, ({ status, code }) => {
        if (code === 'provider_email_needs_verification')
          return unauthorized('Confirm your e-mail address first.');
        return [400, 403, 422].includes(status) ? unauthorized('The ID token was not accepted.') : undefined;
      }),
    );
    return expect(Tokens, answer);
  }

  /** @throws unauthorized when the token is unknown, used up, or its session has ended. */
  async function refresh(refreshToken: string, client: Client) {
    const body = { refresh_token: refreshToken };
    const call = () => post('token?grant_type=refresh_token', client, { body });
    // 400 and 403 are about the token, for whatever reason Auth names; 401 and 404 mean that our own key or address
    // is wrong, and must not sign everybody out.
    const answer = await share('refresh', body, call).catch((thrown) =>
      refused(thrown, ({ status }) =>
        status === 400 || status === 403
          ? unauthorized('The refresh token is invalid or was already used. Sign in again.')
          : undefined,
      ),
    );
    return expect(Tokens, answer);
  }

  /** Ends the session of an access token and no other; a session that has already ended is success. */
  async function signOut(accessToken: string, client: Client): Promise<void> {
    await post('logout?scope=local', client, { bearer: accessToken }).catch((thrown) => {
      if (
        thrown instanceof AuthRefusal &&
        ['session_not_found', 'user_not_found', 'user_banned'].includes(thrown.code)
      )
        return;
      refused(thrown, ({ code }) =>
        code === 'bad_jwt'
          ? unauthorized('The access token is invalid or has expired.', { tokenCame: true })
          : undefined,
      );
    });
  }

  return { signUp, signIn, exchangeIdToken, refresh, signOut };
}

export type Auth = ReturnType<typeof createAuth>;

const signUpRefusals: Record<string, string> = {
  user_already_exists: 'This e-mail address cannot be used to sign up.',
  email_exists: 'This e-mail address cannot be used to sign up.',
  email_address_invalid: 'email: this address cannot receive mail.',
  email_address_not_authorized: 'email: this address cannot receive mail.',
  validation_failed: 'The e-mail address or the password was not accepted.',
  weak_password: 'password: too easy to guess. Choose a longer one with different kinds of characters.',
  signup_disabled: 'Sign-up is switched off.',
  email_provider_disabled: 'Sign-up with an e-mail address is switched off.',
};
