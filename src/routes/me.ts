import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { ApiError, notFound } from '../errors.ts';
import { AccountExport } from '../model/account-export.ts';
import { type Caller, requireRecentSignIn } from '../model/caller.ts';
import { Customer, CustomerChanges, Profile } from '../model/customer.ts';
import { body, exactText, optional } from '../model/fields.ts';

const AuthVia = z
  .enum(['jwt', 'api_key'])
  .meta({ id: 'AuthVia', description: 'The kind of credential in the request.' });

const AppleRevocationRequest = body({
  authorization_code: exactText(1024).meta({
    description: 'The `authorizationCode` of a sign-in with Apple, which is valid once and for five minutes.',
    examples: ['c1f2e3.0.nrtw.AbCdEf'],
  }),
  client_id: optional(exactText(255)).meta({
    description: 'The Services ID, if the code was made on Android or the web. Default: the bundle id of the app.',
    examples: ['com.example.sounds'],
  }),
  redirect_uri: optional(exactText(2048)).meta({
    description: 'The redirect URI that the code was made with, if it was made with one.',
    examples: ['https://example.com/apple'],
  }),
}).meta({ id: 'AppleRevocationRequest' });

/** Returns the 400 for a request that cannot be fulfilled for this account or client. */
const notRevocable = (message: string, options: { field?: string; reason?: 'apple_disabled' } = {}) =>
  new ApiError('invalid_request', message, options);

/** Returns the profile from the token, for the rare account without a customer record. */
function profileOf(caller: Caller): z.input<typeof Profile> {
  // The owner of a key always has a record. Without one, the account was just deleted.
  if (caller.via === 'api_key') throw notFound('customer');
  return { id: caller.userId, email: caller.claims.email ?? null, full_name: null, avatar_url: null };
}

export const meEndpoints = [
  endpoint('getProfile', 'GET /me', {
    summary: 'Caller profile',
    description: 'Useful to check a token after signing in.',
    response: z.object({ data: Profile, auth_via: AuthVia }).meta({ id: 'ProfileResponse' }),
    handle: async ({ context, caller }) => {
      const customer = await context.data.find(caller, 'get_customer');
      const { id, email, full_name, avatar_url } = customer ?? profileOf(caller);
      return { data: { id, email, full_name, avatar_url }, auth_via: caller.via };
    },
  }),

  endpoint('deleteAccount', 'DELETE /me', {
    summary: 'Delete the account',
    description:
      'Permanently deletes the account of the caller, with its customer record, favorites, history, positions and API keys. ' +
      'This needs a sign-in within the last 15 minutes (a refresh does not count), or the response is 401: sign in ' +
      'again. API keys get 401 here.',
    guard: 'user',
    handle: async ({ context, caller }) => {
      requireRecentSignIn(caller, 'delete the account');
      await context.auth.deleteAccount(caller);
    },
  }),

  endpoint('revokeApple', 'POST /me/apple/revocation', {
    summary: 'Revoke the tokens at Apple',
    description:
      'Call it right before `DELETE /me`, for an account that was made with Apple: the App Store requires that the ' +
      'tokens are revoked. Then delete the account, whatever the response is. A used or expired code, and one of ' +
      'another Apple account, get 401 `code_invalid`. This needs a sign-in within the last 15 minutes, as ' +
      '`DELETE /me`. API keys get 401 here.',
    guard: 'user',
    body: AppleRevocationRequest,
    handle: async ({ context: { apple, auth }, caller, body: { authorization_code, client_id, redirect_uri } }) => {
      requireRecentSignIn(caller, 'delete the account');
      if (apple === null)
        throw notRevocable('The revocation at Apple is not set up. Delete the account all the same.', {
          reason: 'apple_disabled',
        });
      const clientId = client_id ?? apple.clientIds[0] ?? '';
      if (!apple.clientIds.includes(clientId))
        throw notRevocable('client_id: is not a client of this service.', { field: 'client_id' });
      const appleIds = await auth.appleIds(caller);
      if (appleIds.length === 0) throw notRevocable('The account has no identity of Apple. Delete the account.');
      await apple.revoke({ code: authorization_code, clientId, redirectUri: redirect_uri }, appleIds);
    },
  }),

  endpoint('exportAccount', 'GET /me/export', {
    summary: 'Export all data about the caller',
    description:
      'One JSON file with all data that this service keeps about the caller (GDPR, articles 15 and 20), except the ' +
      'sessions, which `/me/sessions` lists. API keys get 401 here.',
    guard: 'user',
    response: z.object({ data: AccountExport }).meta({ id: 'AccountExportResponse' }),
    limits: ['exports'],
    download: 'sounds-service-export.json',
    handle: ({ context, caller }) => context.data.exportAccount(caller),
  }),

  endpoint('getCustomer', 'GET /me/customer', {
    summary: 'Caller customer record',
    description: '`email` and `provider` are managed by authentication.',
    response: z.object({ data: Customer, auth_via: AuthVia }).meta({ id: 'CustomerResponse' }),
    errors: ['not_found'],
    handle: async ({ context, caller }) => {
      const data = await context.data.find(caller, 'get_customer');
      if (data === null) throw notFound('customer');
      return { data, auth_via: caller.via };
    },
  }),

  endpoint('updateCustomer', 'PATCH /me/customer', {
    summary: 'Update customer record',
    description:
      'Changes the fields that are sent and keeps the others; null clears a text. A request with any other field ' +
      'gets 400, and changes nothing.',
    body: CustomerChanges,
    readOnly: Object.keys(Customer.shape).filter((field) => !(field in CustomerChanges.shape)),
    response: z.object({ data: Customer }).meta({ id: 'UpdatedCustomerResponse' }),
    errors: ['not_found'],
    handle: async ({ context, caller, body: changes }) => {
      const data = await context.data.find(caller, 'update_customer', { changes });
      if (data === null) throw notFound('customer');
      return { data };
    },
  }),
];
