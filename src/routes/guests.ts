import { z } from 'zod';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { ApiError, notFound, tokenRejected } from '../errors.ts';
import { requireNoGuest, type UserCaller } from '../model/caller.ts';
import { body, exactText } from '../model/fields.ts';
import { exampleToken, SessionResponse, type Tokens, toSession } from '../model/session.ts';

const isError = (thrown: unknown, code: string) => thrown instanceof ApiError && thrown.code === code;

/** Opens a session of a new guest. Returns null while Auth or the database refuses guests. */
async function signUpGuest({ auth, data }: Context, ip: string): Promise<Tokens | null> {
  try {
    return await auth.signUpGuest(ip);
  } catch (thrown) {
    // Asks whether the database refuses guests, because Auth answers its errors with a 500 without the reason.
    if (!isError(thrown, 'server_error')) throw thrown;
    const { guests } = await data.service.call(null, 'get_app_settings');
    if (guests) throw thrown;
    return null;
  }
}

/** Returns the guest of an access token. @throws ApiError unauthorized, or invalid_request if it is of a user */
async function guestOf(token: string, { verify }: Context): Promise<UserCaller> {
  const guest = await verify(token).catch((thrown: unknown) => {
    if (!isError(thrown, 'unauthorized')) throw thrown;
    const message = 'access_token: is invalid or has expired. Refresh the session of the guest.';
    throw tokenRejected(message, { reason: 'guest_token_invalid', cause: thrown });
  });
  if (guest.claims.isGuest) return guest;
  throw new ApiError('invalid_request', 'access_token: is not that of a guest.', { field: 'access_token' });
}

export const guestEndpoints = [
  endpoint('startAsGuest', 'POST /auth/guest', {
    summary: 'Listen without an account',
    description:
      'Makes a guest and opens a session, whose user has `is_guest: true`. A guest can do what a user can, except set ' +
      'a password. Make one guest on a device, and keep its session: it is the only way back to what the guest did. ' +
      'When the person signs up or in, call `POST /me/guest`. Guests who are idle for 90 days are deleted.',
    guard: 'none',
    limits: ['guests'],
    response: SessionResponse,
    errors: ['invalid_request'],
    handle: async ({ context, ip }) => {
      const tokens = await signUpGuest(context, ip);
      if (tokens !== null) return { data: toSession(tokens) };
      throw new ApiError('invalid_request', 'Guests are switched off: sign up or in.', { reason: 'guests_disabled' });
    },
  }),

  endpoint('adoptGuest', 'POST /me/guest', {
    summary: 'Adopt a guest',
    description:
      'Moves what a guest did to the caller: favorites and lists (the newest, up to the limits), history, positions ' +
      '(the newest of each sound) and premium (the later end). Then the guest is deleted. Call it after a sign-up or sign-in, ' +
      'with a guest that this device made itself, and keep its tokens until the response has come. 404 ' +
      '`no_such_guest` means that it was adopted before. Refresh an expired token of the guest first. Send plays ' +
      'that the guest has not sent as the caller afterwards: none counts twice. API keys get 401 here.',
    guard: 'user',
    body: body({
      access_token: exactText(8192).meta({ description: 'Access token of the guest.', examples: [exampleToken] }),
    }).meta({ id: 'AdoptGuestRequest' }),
    response: z
      .object({ data: z.object({ adopted: z.boolean().meta({ examples: [true] }) }).meta({ id: 'Adoption' }) })
      .meta({ id: 'AdoptionResponse' }),
    errors: ['not_found'],
    handle: async ({ context, caller, body }) => {
      requireNoGuest(caller, 'adopt a guest');
      const guest = await guestOf(body.access_token, context);
      const adoption = { guest: guest.userId, owner: caller.userId };
      if (!(await context.data.service.call(null, 'adopt_guest', adoption))) throw notFound('guest');
      return { data: { adopted: true } };
    },
  }),
];
