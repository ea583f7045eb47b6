import { localKeys } from '@sounds-service/local-supabase/keys';
import { describe, expect, inject } from 'vitest';
import { checks } from '../../src/doctor/checks.ts';
import type { Result } from '../../src/doctor/result.ts';
import { freePort } from '../support/ports.ts';
import { testWithProject } from '../support/project.ts';
import { rest } from '../support/rest.ts';
import { findingsOf as allFindingsOf, doctorOf, resultOf, settingsOf, test } from './stack.ts';

const embedded = inject('stack').embedded;
const { jwtSecret } = localKeys;
const testWithSharedSecret = testWithProject({ signing: 'HS256' }, { SUPABASE_JWT_SECRET: jwtSecret });

/** Checks that other tests can make fail, because they delete customers and allow guests. Slow tests cover these. */
const disturbed = ['Customers', 'Guests'];

const findingsOf = async (diagnosis: Promise<Result[]>) =>
  (await allFindingsOf(diagnosis)).filter((finding) => !disturbed.some((check) => finding.startsWith(check)));

describe.runIf(embedded)('npm run doctor', () => {
  test('finds nothing to fix in a correct deployment', async ({ diagnose }) => {
    const results = await diagnose();
    expect(results.map(({ check }) => check)).toEqual(checks.map(({ name }) => name));
    const others = results.filter(({ status, check }) => status !== 'ok' && !disturbed.includes(check));
    expect(others.map(({ status, check }) => `${status}: ${check}`)).toEqual([
      'not checked: Read replica',
      'not checked: Redis',
      'not checked: Revocation at Apple',
      'not checked: Gateway',
      'not checked: Gateway clock',
      'not checked: Gateway https',
      'not checked: Gateway proxies',
    ]);
    expect(resultOf(results, 'Sign-in settings')?.detail).toContain('{{ .Token }}');
  });

  describe('with wrong environment variables', () => {
    test.for<[Record<string, string>, RegExp[]]>([
      [{ SUPABASE_PUBLISHABLE_KEY: 'sb_publishable_x' }, [/^SUPABASE_PUBLISHABLE_KEY: .*API Keys/]],
      [{ SUPABASE_SECRET_KEY: 'sb_secret_x' }, [/^SUPABASE_SECRET_KEY: .*API Keys, .*Secret keys/]],
      [
        {
          RATE_LIMIT_PER_MINUT: '5',
          SUPABASE_ANON_KEY: 'x',
          SUPABASE_PUBLIC_URL: 'http://127.0.0.1:2',
          SUPABASE_JWT_SECRET: 'x'.repeat(40),
          REDIS_URL: 'redis://127.0.0.1:2',
        },
        [
          /^warning in Environment: RATE_LIMIT_PER_MINUT is set, .*\.env\.example/,
          /^warning in Environment: SUPABASE_ANON_KEY is set, .*\.env\.example/,
          /^Signed URLs: .*Set SUPABASE_PUBLIC_URL/,
          /^SUPABASE_JWT_SECRET: .*forge .*Remove SUPABASE_JWT_SECRET/,
          /^Redis: .* REDIS_URL/,
        ],
      ],
    ])('reports each variable and its fix: %o', async ([env, expected], { diagnose }) => {
      const findings = await findingsOf(diagnose(env));
      expect(findings).toEqual(expected.map((finding) => expect.stringMatching(finding)));
    });

    test.for<[string, (apiUrl: string, port: number) => string, RegExp]>([
      ['no remote server listens', (_, port) => `http://0.0.0.0:${port}`, /ECONNREFUSED.*paused/],
      ['no local server listens', (_, port) => `http://localhost:${port}`, /ECONNREFUSED.* npm run dev/],
      ['the server has no TLS', (url) => url.replace('http:', 'https:'), /does not speak https\. Write http:/],
    ])('reports a SUPABASE_URL where %s', async ([, addressOf, finding], { diagnose }) => {
      const SUPABASE_URL = addressOf(inject('stack').apiUrl, await freePort());
      expect(await findingsOf(diagnose({ SUPABASE_URL }))).toEqual([expect.stringMatching(finding)]);
    });
  });
});

describe.runIf(embedded)('npm run doctor at a project that signs with its shared secret', () => {
  testWithSharedSecret.for([
    [jwtSecret, [], /HS256/],
    ['x'.repeat(40), [/^Access tokens: .*is not the secret of this project: .*JWT Keys/], /cannot be verified/],
    ['', [/^Access tokens: .*set SUPABASE_JWT_SECRET .*JWT Keys/], /cannot be verified/],
  ] as const)(
    'accepts only the secret of the project as SUPABASE_JWT_SECRET: "%s"',
    async ([SUPABASE_JWT_SECRET, expected, detail], { project, sql }) => {
      const results = doctorOf(settingsOf(project.url), sql)({ SUPABASE_JWT_SECRET });
      expect(await findingsOf(results)).toEqual(expected.map((finding) => expect.stringMatching(finding)));
      expect(resultOf(await results, 'Access tokens')?.detail).toMatch(detail);
    },
  );
});

test('the database functions of the doctor ignore accounts that it did not create', async ({ sql, user }) => {
  const account = user.user.id;
  await sql`select admin.create_api_key('Real', ${user.user.email})`;
  expect((await rest('service', 'POST', 'rpc/doctor_issue_key', { account })).body).toBeNull();
  expect((await rest('service', 'POST', 'rpc/doctor_session_addresses', { account })).body).toEqual([]);
  await rest('service', 'POST', 'rpc/doctor_revoke_keys', { account });
  const keys = await sql`select revoked_at from private.api_keys where owner_id = ${account}`;
  expect(keys).toEqual([{ revoked_at: null }]);
});
