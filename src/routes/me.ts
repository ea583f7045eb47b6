import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../errors.ts';
import { AccountExport } from '../model/account-export.ts';
import { type Caller, requireRecentSignIn } from '../model/caller.ts';
import { Customer, CustomerChanges, Profile } from '../model/customer.ts';

const AuthVia = z
  .enum(['jwt', 'api_key'])
  .meta({ id: 'AuthVia', description: 'The kind of credential in the request.' });

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
