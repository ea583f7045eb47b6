import { z } from 'zod';
import type { Caller, UserCaller } from '../caller.ts';
import { countryCodes } from '../country.ts';
import { Done, endpoint } from '../endpoint.ts';
import { body, text } from '../fields.ts';
import { notFound, unauthorized } from '../http/errors.ts';
import { dateTime } from '../sound.ts';

const AuthVia = z
  .enum(['jwt', 'api_key'])
  .meta({ description: 'The kind of credential that the request came with.' });

const fullName = 'Ada Lovelace';
const avatar = 'https://example.com/ada.jpg';
const optionalText = (example: string, description?: string) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example], ...(description !== undefined && { description }) });

const Profile = z
  .object({
    id: z.guid().meta({ examples: ['7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10'] }),
    email: optionalText('ada@example.com'),
    full_name: optionalText(fullName),
    avatar_url: optionalText(avatar),
  })
  .meta({ id: 'Profile' });

const Customer = Profile.extend({
  phone: optionalText('+491701234567'),
  provider: optionalText('email'),
  source: z.enum(['email', 'google', 'apple']).nullable().meta({ description: 'How the account was made.' }),
  locale: optionalText('de-AT', 'BCP 47 locale.'),
  country: optionalText('AT', 'ISO 3166-1 alpha-2 code.'),
  marketing_opt_in: z.boolean().meta({ examples: [false] }),
  is_active: z.boolean().meta({ examples: [true] }),
  last_seen_at: dateTime.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
}).meta({ id: 'Customer' });
type Customer = z.infer<typeof Customer>;

const phone = text(50)
  .transform((value) => value.replace(/[\s().-]/g, ''))
  .pipe(z.string().regex(/^\+[1-9][0-9]{6,14}$/, 'must be an international number such as +49 170 1234567'));

const locale = text(35).transform((value, check) => {
  try {
    return Intl.getCanonicalLocales(value)[0] as string;
  } catch {
    check.addIssue('must be a BCP 47 locale such as de or pt-BR');
    return z.NEVER;
  }
});

// Letters first: upper case makes SS of ß.
const country = text(50)
  .refine(
    (value) => /^[a-z]{2}$/i.test(value) && countryCodes.has(value.toUpperCase()),
    'must be an ISO 3166-1 alpha-2 code such as DE',
  )
  .transform((value) => value.toUpperCase())
  .meta({ override: { minLength: 2, maxLength: 2 } });

const avatarUrl = text(2048).refine(isPlainHttpsUrl, 'must be an https address without user name or spaces');

// The very pattern of private.is_https_address in the database; a URL parser would mend what is odd, and the two would differ.
const plainHttpsUrl = new RegExp(
  '^[Hh][Tt][Tt][Pp][Ss]://' +
    String.raw`([^\u0001-,/:-@[-^\u0060{-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]+|\[[0-9A-Fa-f:.]+])` +
    '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?' +
    String.raw`([/?#][^\u0001-\u0020\\\u007F-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF]*)?$`,
);

/** Whether the database takes an address for a picture, but for its length. */
export function isPlainHttpsUrl(value: string): boolean {
  return plainHttpsUrl.test(value);
}

/** Unknown fields are refused, unlike elsewhere: a client that sends one believes that it changed something. */
const Changes = body({
  full_name: text(200)
    .nullable()
    .meta({ examples: [fullName] }),
  avatar_url: avatarUrl.nullable().meta({
    format: 'uri',
    description: 'An https address; it is stored, never fetched.',
    examples: [avatar],
  }),
  phone: phone.nullable().meta({
    description: 'An international number; spaces, hyphens, brackets and dots are removed.',
    examples: ['+49 170 1234567'],
  }),
  locale: locale
    .nullable()
    .meta({ description: 'BCP 47 locale, stored in canonical form.', examples: ['de-AT'] }),
  country: country
    .nullable()
    .meta({ description: 'ISO 3166-1 alpha-2 code, stored in upper case.', examples: ['AT'] }),
  marketing_opt_in: z.boolean('must be true or false').meta({ examples: [true] }),
})
  .strict()
  .partial();

/** What a token says of its user, for the rare account that has no customer record. */
function profileOf(caller: Caller): z.input<typeof Profile> {
  // A key cannot be without: its owner is a customer.
  if (caller.via === 'api_key') throw notFound('customer');
  const { email } = caller.claims;
  return {
    id: caller.userId,
    email: typeof email === 'string' ? email : null,
    full_name: null,
    avatar_url: null,
  };
}

const recentSignInSeconds = 15 * 60;

const SignIns = z.array(z.object({ timestamp: z.number() }));

/** When the user of a token last signed in, in Unix seconds: Auth keeps it in `amr`, also through refreshes. */
function signedInAt({ claims }: UserCaller): number {
  const signIns = SignIns.safeParse(claims['amr']).data ?? [];
  return Math.max(0, ...signIns.map(({ timestamp }) => timestamp));
}

export const meEndpoints = [
  endpoint({
    method: 'get',
    path: '/me',
    operation: 'getProfile',
    summary: 'Caller profile',
    description: 'Good for checking a token after signing in.',
    guard: 'bearer',
    response: z.object({ data: Profile, auth_via: AuthVia }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller }) => {
      const customer = (await context.data.call(caller, 'get_customer')) as Customer | null;
      const { id, email, full_name, avatar_url } = customer ?? profileOf(caller);
      return { data: { id, email, full_name, avatar_url }, auth_via: caller.via };
    },
  }),

  endpoint({
    method: 'delete',
    path: '/me',
    operation: 'deleteAccount',
    summary: 'Delete the account',
    description:
      'Deletes the account of the caller for good, with its customer record, favorites and API keys. It needs a sign-in ' +
      'within the last 15 minutes; a refresh is none. Otherwise the answer is 401: sign in again. API keys are 401 here.',
    guard: 'user',
    response: Done,
    errors: ['unauthorized', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller }) => {
      if (Date.now() / 1000 - signedInAt(caller) > recentSignInSeconds)
        throw unauthorized('Sign in again to delete the account.', { tokenCame: true });
      await context.auth.deleteAccount(caller);
      return { data: { ok: true } };
    },
  }),

  endpoint({
    method: 'get',
    path: '/me/customer',
    operation: 'getCustomer',
    summary: 'Caller customer record',
    description: '`email` and `provider` are managed by authentication.',
    guard: 'bearer',
    response: z.object({ data: Customer, auth_via: AuthVia }),
    errors: ['unauthorized', 'not_found', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller }) => {
      const data = (await context.data.call(caller, 'get_customer')) as Customer | null;
      if (data === null) throw notFound('customer');
      return { data, auth_via: caller.via };
    },
  }),

  endpoint({
    method: 'patch',
    path: '/me/customer',
    operation: 'updateCustomer',
    summary: 'Update customer record',
    description:
      'Changes the fields that are sent and leaves the others; null clears a text. Only these fields can be changed: ' +
      'any other is 400, and then nothing is written.',
    guard: 'bearer',
    body: Changes,
    response: z.object({ data: Customer }),
    errors: ['invalid_request', 'unauthorized', 'not_found', 'rate_limited'],
    cache: 'no-store',
    handle: async ({ context, caller, body: changes }) => {
      const data =
        Object.keys(changes).length === 0
          ? await context.data.call(caller, 'get_customer')
          : await context.data.call(caller, 'update_customer', { changes });
      if (data === null) throw notFound('customer');
      return { data: data as Customer };
    },
  }),
];
