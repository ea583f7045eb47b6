import { describe, expect, inject } from 'vitest';
import { type Decide, startNetwork } from '../support/network.ts';
import { test } from './own-stack.ts';
import { findingsOf } from './stack.ts';

/** Replaces the project's response if the address of a request contains `part`. */
const instead =
  (part: string, body: object, status = 200, headers = {}): Decide =>
  ({ path }) =>
    path.includes(part) ? { status, headers, body: JSON.stringify(body) } : undefined;

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns this status for requests that name a schema, or for requests that name none. */
const forSchemas =
  (areNamed: boolean, status: number): Decide =>
  ({ path, headers }) =>
    path.endsWith('/doctor_report') && 'content-profile' in headers === areNamed ? status : undefined;

const hook = { code: 'unexpected_failure', message: 'Error running hook URI: pg-functions://postgres/public/hook' };
const session = (claims: object) => ({
  access_token: `${encoded({ alg: 'ES256', kid: 'x' })}.${encoded({ aud: 'authenticated', role: 'authenticated', ...claims })}.AA`,
  token_type: 'bearer',
  expires_in: 3600,
  expires_at: 4_102_444_800,
  refresh_token: 'x',
  user: { id: '00000000-0000-4000-8000-000000000000', email: 'a@doctor.invalid', created_at: '2026-01-01T00:00:00Z' },
});

const external = { email: true, google: true, anonymous_users: true, phone: true, github: true, zoom: false };
const switches = { disable_signup: true, passkeys_enabled: true, saml_enabled: true };
const settings = { external, mailer_autoconfirm: true, ...switches };
const ahead = { Date: new Date(Date.now() + 3_600_000).toUTCString() };

describe.runIf(inject('stack').embedded)('npm run doctor', () => {
  test.for<[string, Decide[], RegExp[]]>([
    [
      'all settings at once',
      [
        instead('/auth/v1/settings', settings),
        instead('/auth/v1/health', {}, 200, ahead),
        forSchemas(true, 200),
        instead('/v1/factors', { id: 'x' }),
        instead('/.well-known/oauth-authorization-server', {}),
        instead('grant_type=web3', { code: 'validation_failed' }, 400),
        instead('/user/identities/authorize', { code: 'validation_failed' }, 400),
        instead('/admin/generate_link', { email_otp: '123456' }),
        instead('/rpc/list_home_sections', {}, 500),
      ],
      [
        /^Sign-in settings: .*Authentication, Passkeys/,
        /^warning in Sign-in settings: .*SAML 2\.0/,
        /^warning in Sign-in settings: .*: github\. /,
        /^Sign-in settings: .*Switch off Phone/,
        /^warning in Sign-in settings: .*Allow new users to sign up/,
        /^Guests: .*Run the snippet allow_guests/,
        /^Clock: .* is \d+ s behind /,
        /^Exposed schemas: .*Remove private from/,
        /^Multi-factor sign-in: .*Authentication, Multi-/,
        /^OAuth server: .*Authentication, OAuth Server/,
        /^warning in Web3 wallets: .*solana .*Web3 Wallet/,
        /^warning in Manual linking: .*Allow manual linking/,
        /^Mailed codes: .* 6 digits.*"Email OTP length" to 8/,
        /^Reads: GET \/home answers 500 .*Logs/,
      ],
    ],
    ['another server', [instead('/auth/v1/health', {}, 404)], [/^SUPABASE_URL: .* 404, which no Supabase project/]],
    ['public not exposed', [forSchemas(false, 406)], [/^SUPABASE_SECRET_KEY: .*Add public to/]],
    [
      'no data API',
      [forSchemas(false, 503)],
      [/^SUPABASE_SECRET_KEY: The data API does not answer \(503\)\. .*status\.supa/],
    ],
    [
      'no settings of Auth',
      [instead('/auth/v1/settings', {}, 503)],
      [/^SUPABASE_PUBLISHABLE_KEY: Auth does not answer \(503\)\./],
    ],
    [
      'a hook that fails',
      [instead('grant_type=password', hook, 500)],
      [/^Access tokens: .*cannot sign in.* A custom access token hook may fail: .*Authentication, Hooks/],
    ],
    [
      'e-mail sign-ins that are off',
      [instead('grant_type=password', { code: 'email_provider_disabled', message: 'off' }, 422)],
      [/^Access tokens: .*Switch on Email/],
    ],
    [
      'a hook that changes the audience',
      [instead('grant_type=password', session({ aud: 'app' }))],
      [/^Access tokens: .* audience "app" .*keep the claim aud/],
    ],
    [
      'a hook that changes the role',
      [instead('grant_type=password', session({ role: 'admin' }))],
      [/^Access tokens: .* role "admin" .*keep the claim role/],
    ],
    [
      'a hook that makes tokens too long',
      [instead('grant_type=password', session({ roles: 'x'.repeat(9_000) }))],
      [/^Access tokens: .* characters\. The gateway accepts 8192\. .*fewer claims/],
    ],
  ])('reports a wrong setting of the dashboard and its place: %s', async ([, decisions, expected], { ownStack }) => {
    const decide: Decide = (request) => decisions.map((each) => each(request)).find((answer) => answer);
    const { url: SUPABASE_URL } = await startNetwork(ownStack.apiUrl, decide);
    const findings = await findingsOf(ownStack.diagnose({ SUPABASE_URL }));
    expect(findings).toEqual(expected.map((finding) => expect.stringMatching(finding)));
  });
});
