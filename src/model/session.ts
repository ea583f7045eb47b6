import { createHmac } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { exactText, text, withoutInvisible } from './fields.ts';
import { dateTime } from './sound.ts';

/** User and tokens as Supabase Auth returns them. */
export const User = z.object({ id: z.string(), email: z.string().nullish(), is_anonymous: z.boolean().optional() });
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('bearer'),
  expires_at: z.number(),
  expires_in: z.number(),
  user: User,
});
export type Tokens = z.infer<typeof Tokens>;

const exampleEmail = 'ada@example.com';
export const examplePassword = 'correct horse battery';
export const exampleToken = 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...';

const UserOfSession = z
  .object({
    id: z.guid().meta({ examples: ['7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10'] }),
    email: z.nullable(z.string()).meta({ examples: [exampleEmail] }),
    is_guest: z.boolean().optional().meta({ description: 'Present, and true, only for a guest.' }),
  })
  .meta({ id: 'User' });

export const RefreshedSession = z
  .object({
    access_token: z.string().meta({ description: 'Bearer token.', examples: [exampleToken] }),
    refresh_token: z.string().meta({
      description: 'Valid for one refresh, which returns the next one.',
      examples: ['v1sQ0o3kPq7m'],
    }),
    token_type: z.literal('bearer'),
    expires_at: z.int().meta({ description: 'Unix time at which the access token expires.', examples: [1782210600] }),
    expires_in: z.int().meta({ description: 'Seconds until the access token expires.', examples: [3600] }),
  })
  .meta({ id: 'RefreshedSession' });
const Session = RefreshedSession.extend({ user: UserOfSession }).meta({ id: 'Session' });
export const SessionResponse = z.object({ data: Session }).meta({ id: 'SessionResponse' });

export const DeviceSession = z
  .object({
    id: z.guid().meta({ examples: ['3e1f7a0c-5b6d-4c8e-9f10-2a3b4c5d6e7f'] }),
    created_at: dateTime.meta({ description: 'Time of the sign-in.' }),
    last_used_at: dateTime.meta({ description: 'Time of the last refresh, or of the sign-in.' }),
    user_agent: z.nullable(z.string()).meta({
      description:
        'The `User-Agent` of the last sign-in or refresh, cut to 200 characters; of a browser, its platform.',
      examples: ['Sounds/1.2 (iPhone)'],
    }),
    is_current: z.boolean().meta({ description: 'True for the session of this request.', examples: [true] }),
  })
  .meta({ id: 'DeviceSession' });

const exampleUser = { id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', email: exampleEmail };
const exampleTokens = {
  access_token: exampleToken,
  refresh_token: 'v1sQ0o3kPq7m',
  token_type: 'bearer' as const,
  expires_at: 1782210600,
  expires_in: 3600,
};

/** One shape for both outcomes, because most client generators turn a choice of two into a type that fits neither. */
export const SignedUp = RefreshedSession.partial()
  .extend({
    needs_email_confirmation: z
      .boolean()
      .optional()
      .meta({ description: 'Present, and true, only when the e-mail address must be confirmed first.' }),
    user: UserOfSession,
  })
  .meta({
    id: 'SignedUp',
    description:
      'A session. If `needs_email_confirmation` is true, the token fields are absent and `user.id` is a placeholder.',
    examples: [
      { ...exampleTokens, user: exampleUser },
      { needs_email_confirmation: true, user: exampleUser },
    ],
  });

/** Removes what pasting adds, reads full-width characters, and writes the domain as mail servers do (IDNA). */
function foldEmail(value: string): string {
  const [, local, domain] = /^(.*)@(.*)$/s.exec(withoutInvisible(value.normalize('NFKC'))) ?? [];
  return domain === undefined ? value : `${local}@${/[^\0-\x7f]/.test(domain) ? domainToASCII(domain) : domain}`;
}

export const email = text(254)
  .transform(foldEmail)
  .pipe(z.email({ pattern: z.regexes.html5Email, error: 'must be an e-mail address' })) // the rule of Auth
  .meta({ override: { format: 'email', minLength: 1, maxLength: 254 }, examples: [exampleEmail] });

/** Returns the fields of the contract, because Auth returns more. */
export function toTokens({ access_token, refresh_token, token_type, expires_at, expires_in }: Tokens) {
  return { access_token, refresh_token, token_type, expires_at, expires_in };
}

const toUser = ({ id, email, is_anonymous }: Tokens['user']) => ({
  id,
  email: email || null,
  ...(is_anonymous && { is_guest: true }),
});

/**
 * Returns the placeholder user of a sign-up whose address is unconfirmed. The id from Auth would reveal whether the
 * address has an account, because only then Auth makes up a new id at each attempt.
 * @param secret key of the hash, so that clients cannot compute the ids
 */
export function placeholderUser(address: string, secret: string) {
  const email = address.toLowerCase();
  const bytes = createHmac('sha256', secret).update(`sign-up of ${email}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6); // version 8, for custom contents (RFC 9562)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return { id: bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'), email };
}

export const toSession = (tokens: Tokens) => ({ ...toTokens(tokens), user: toUser(tokens.user) });

/**
 * Tells whether a text has a form of Auth's refresh tokens, which are base64url of at least 12 characters (two
 * algorithms: github.com/supabase/auth, internal/tokens). Others need no call to Auth.
 */
export const isRefreshToken = (text: unknown) => typeof text === 'string' && /^[\w-]{12,}$/.test(text);

/** Composes letters and accents, because keyboards differ in the form that they type. */
export const nfc = (password: string) => password.normalize('NFC');

/** New password. Auth hashes with bcrypt, which reads at most 72 bytes. */
export const newPassword = exactText(72, 6, nfc)
  .refine((value) => Buffer.byteLength(value) <= 72, 'must have at most 72 bytes')
  .meta({ description: 'At most 72 bytes in UTF-8.', examples: [examplePassword] });

export const fullName = text(200).meta({ examples: ['Ada Lovelace'] });
