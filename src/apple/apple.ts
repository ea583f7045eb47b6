import { createPrivateKey, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { serverError, unauthorized } from '../errors.ts';
import { orElse } from '../shared/or-else.ts';
import { requestContext } from '../shared/request-context.ts';
import { signClientSecret } from './client-secret.ts';

export const appleAddress = 'https://appleid.apple.com';

/** Deadline for all calls of a request, from the start of its handler. */
const deadlineMs = 11_000;

interface Code {
  readonly code: string;
  /** One of `clientIds`: the client that the code was made for. */
  readonly clientId: string;
  /** Address that the code was made with, which codes of a Services ID have. */
  readonly redirectUri: string | undefined;
}

export interface Apple {
  /** Bundle ids and Services IDs, the default one first. */
  readonly clientIds: readonly string[];
  /**
   * Exchanges an authorization code and revokes the token of its user.
   * @param appleIds ids of the account's owner at Apple: a code of another person revokes nothing
   * @throws ApiError code_invalid for a used, expired or foreign code; server_error for every other answer of Apple
   */
  revoke(code: Code, appleIds: readonly string[]): Promise<void>;
  /** Sends a made-up code. Returns Apple's error, `invalid_grant` if the settings are right. @throws server_error */
  errorOfMadeUpCode(clientId: string): Promise<string>;
}

/** Errors of Apple (ErrorResponse). Other texts are not logged, because they could contain what was sent. */
const AppleError = z.object({
  error: z.enum([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
  ]),
});

const TokenResponse = z.object({ refresh_token: z.string(), id_token: z.string() });

const invalidCode = () =>
  unauthorized('The authorization code is wrong, was used already or has expired.', 'code_invalid');

const checkSettings =
  'If this stays, check APPLE_TEAM_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY and APPLE_CLIENT_IDS with npm run doctor.';

/** Returns the 500 for a failed call of Apple. @param what text for the log, without anything that was sent */
const failure = (what: string, cause?: unknown) => serverError(new Error(`${what}. ${checkSettings}`, { cause }));

/** Returns the time until the deadline of the current request. */
function timeLeftMs(): number {
  const { startedAt = performance.now() } = requestContext.getStore() ?? {};
  return Math.max(1, Math.ceil(startedAt + deadlineMs - performance.now()));
}

/**
 * Returns the id of the user. The token comes from Apple over TLS, which replaces the check of its signature (OpenID
 * Connect Core, section 3.1.3.7).
 */
function userIn(idToken: string): string | undefined {
  try {
    return decodeJwt(idToken).sub;
  } catch {
    throw failure('Apple answered /auth/token without a valid id_token');
  }
}

/** Returns the error in a response of Apple. */
const errorIn = (body: unknown) => AppleError.safeParse(body).data?.error ?? 'no known error';

/** Creates the calls of Apple. @returns null without its settings */
export function createApple({ apple, secrets }: Config, address: string): Apple | null {
  if (apple === null || secrets.applePrivateKey === null) return null;
  const key = createPrivateKey(secrets.applePrivateKey);

  /** Calls Apple as one of the clients. @returns undefined as body if it is not JSON @throws server_error */
  async function call(path: '/auth/token' | '/auth/revoke', clientId: string, fields: Record<string, string>) {
    const client_secret = await signClientSecret(apple as NonNullable<typeof apple>, key, clientId);
    const request = {
      method: 'POST',
      headers: { 'User-Agent': 'sounds-service' },
      body: new URLSearchParams({ client_id: clientId, client_secret, ...fields }),
      signal: AbortSignal.timeout(timeLeftMs()),
    };
    try {
      const response = await fetch(address + path, request);
      const text = await response.text(); // empty after a revocation
      return { status: response.status, body: orElse((): unknown => JSON.parse(text), undefined) };
    } catch (cause) {
      throw failure(`Apple did not answer ${path}`, cause);
    }
  }

  const exchange = ({ code, clientId, redirectUri }: Code) =>
    call('/auth/token', clientId, {
      code,
      grant_type: 'authorization_code',
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    });

  return {
    clientIds: apple.clientIds,

    async revoke(code, appleIds) {
      const { status, body } = await exchange(code);
      if (status === 400 && errorIn(body) === 'invalid_grant') throw invalidCode();
      const tokens = TokenResponse.safeParse(body).data;
      if (status !== 200 || !tokens) throw failure(`Apple answered /auth/token with ${status}, ${errorIn(body)}`);
      if (!appleIds.includes(userIn(tokens.id_token) ?? '')) throw invalidCode();
      const revocation = { token: tokens.refresh_token, token_type_hint: 'refresh_token' };
      const answer = await call('/auth/revoke', code.clientId, revocation);
      if (answer.status !== 200)
        throw failure(`Apple answered /auth/revoke with ${answer.status}, ${errorIn(answer.body)}`);
    },

    async errorOfMadeUpCode(clientId) {
      const { status, body } = await exchange({ code: randomUUID(), clientId, redirectUri: undefined });
      return status === 400 ? errorIn(body) : `${status}, ${errorIn(body)}`;
    },
  };
}
