import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { expect, test } from 'vitest';
import { ConfigError, loadConfig, variableNames } from '../../src/config/config.ts';

const required = {
  SUPABASE_URL: 'https://project.supabase.co/',
  SUPABASE_PUBLISHABLE_KEY: 'sb_publishable_x',
  SUPABASE_SECRET_KEY: 'sb_secret_x',
};

function errorOf(changes: Record<string, string | undefined>): Error {
  try {
    loadConfig({ ...required, ...changes });
  } catch (error) {
    return error as Error;
  }
  throw new Error('The configuration was accepted.');
}

test('only the address and the keys of the project are required, and empty values are ignored', () => {
  expect(loadConfig(required)).toEqual({
    port: 3000,
    host: undefined,
    appName: null,
    logLevel: 'info',
    requireHttps: true,
    trustProxy: false,
    metricsPort: null,
    keepAliveSeconds: 75,
    drainSeconds: 2,
    shutdownGraceSeconds: 20,
    rateLimits: {
      userPerMinute: 60,
      apiKeyPerMinute: 60,
      anonymousPerMinute: 300,
      signUpsPerHour: 30,
      guestsPerHour: 30,
    },
    passwordCallsAtOnce: 8,
    idTokenProviders: ['google', 'apple'],
    imageTransformations: false,
    apple: null,
    corsOrigins: [],
    supabase: {
      url: 'https://project.supabase.co',
      publicUrl: 'https://project.supabase.co',
      readUrl: null,
      publishableKey: 'sb_publishable_x',
    },
    secrets: { supabaseSecretKey: 'sb_secret_x', supabaseJwtSecret: null, redisUrl: null, applePrivateKey: null },
    unknownVariables: [],
  });
  expect(loadConfig({ ...required, PORT: '', TRUST_PROXY: ' ', SUPABASE_JWT_SECRET: '' })).toEqual(
    loadConfig(required),
  );
});

test('every variable is trimmed', () => {
  const set = {
    ...parseEnv(readFileSync('.env.example', 'utf8').replaceAll(/^#(?=[A-Z_]+=)/gm, '')),
    SUPABASE_JWT_SECRET: 'x'.repeat(32),
  };
  const padded = Object.entries(set).map(([name, value]) => [name, ` ${value}\r\n`]);
  expect(loadConfig(Object.fromEntries(padded))).toEqual(loadConfig(set));
});

test('CORS_ORIGINS may name any scheme with a host, as browsers and web views send it', () => {
  for (const value of [
    'https://app.example.com',
    'http://localhost:8100',
    'http://127.0.0.1:*',
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'chrome-extension://abcdefghijklmnop',
    'app://my.app:8080',
  ])
    expect(loadConfig({ ...required, CORS_ORIGINS: value }).corsOrigins).toEqual([value]);
});

test('HOST is an address of the machine', () => {
  for (const HOST of ['127.0.0.1', '0.0.0.0', '::1', 'localhost'])
    expect(loadConfig({ ...required, HOST }).host).toBe(HOST);
  for (const HOST of ['my-machine', 'http://127.0.0.1', '127.0.0.1:3000'])
    expect(errorOf({ HOST }).message).toMatch(/^HOST must be an address of this machine/);
});

test('an address of another part of a hosted project is rejected, without its password', () => {
  for (const variable of ['SUPABASE_URL', 'SUPABASE_PUBLIC_URL', 'SUPABASE_READ_URL'])
    for (const [value, message] of [
      ['https://supabase.com/dashboard/project/abcd/settings', 'of the data API: https://abcd.supabase.co'],
      ['https://app.supabase.com/project/abcd', 'of the data API: https://abcd.supabase.co'],
      ['postgresql://postgres.abcd:hush@a.pooler.supabase.com:6543/postgres', 'must not contain a user or a password'],
      ['https://aws-0-eu-central-1.pooler.supabase.com', 'such as https://abcd.supabase.co'],
      ['https://supabase.com/dashboard', 'such as https://abcd.supabase.co'],
      ['https://db.abcd.supabase.co', 'such as https://abcd.supabase.co'],
      ['http://abcd.supabase.co', 'such as https://abcd.supabase.co'],
      ['https://abcd.supabase.co:5432', 'such as https://abcd.supabase.co'],
      ['https://abcd.supabase.co/rest/v1', 'such as https://abcd.supabase.co'],
      ['postgresql://postgres:hush@db.abcd.supabase.co:5432/postgres', 'must not contain a user or a password'],
      ['https://admin:hush@api.example.com', 'must not contain a user or a password'],
      ['https://hush@api.example.com', 'must not contain a user or a password'],
      ['https://api.example.com/?apikey=hush', 'must not contain a query or a fragment'],
      ['https://abcd.supabase.co#hush', 'must not contain a query or a fragment'],
      ['https://api.example.com?', 'must not contain a query or a fragment'],
    ] as const) {
      const error = errorOf({ [variable]: value }).message;
      expect(error).toMatch(new RegExp(`^${variable} must `));
      expect(error.endsWith(`${message}.`), `${value}: ${error}`).toBe(true);
      expect(error).not.toContain('hush');
    }
  for (const value of ['https://abcd.supabase.co', 'https://abcd-all.supabase.co', 'http://10.0.0.5:8000'])
    expect(loadConfig({ ...required, SUPABASE_URL: value }).supabase.url).toBe(value);
});

test('trusted proxies are a number of hops or a list of addresses', () => {
  const trustProxyOf = (TRUST_PROXY: string) => loadConfig({ ...required, TRUST_PROXY }).trustProxy;
  expect(trustProxyOf('2')).toBe(2);
  expect(trustProxyOf('0')).toBe(false);
  expect(trustProxyOf('10.0.0.0/8, ::1')).toEqual(['10.0.0.0/8', '::1']);
  for (const TRUST_PROXY of ['true', '1.2.3', '10.0.0.0/99', '0.0.0.0/0', '::/0', ',', '-1', '1.5', '300'])
    expect(errorOf({ TRUST_PROXY }).message).toMatch(/^TRUST_PROXY must be a number of proxies/);
});

test('all problems are reported at once, with the variable of each, and without secret values', () => {
  const wrong = {
    PORT: '80a',
    SUPABASE_URL: 'project.supabase.co',
    SUPABASE_PUBLISHABLE_KEY: undefined,
    SUPABASE_JWT_SECRET: 'short secret',
    TRUST_PROXY: 'true',
    REQUIRE_HTTPS: 'yes',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'loud',
    ID_TOKEN_PROVIDERS: 'google,facebook',
    CORS_ORIGINS: 'https://a.example/path',
    REDIS_URL: 'http://localhost:6379',
  };
  const error = errorOf(wrong);
  expect(error).toBeInstanceOf(ConfigError);
  const lines = error.message.split('\n');
  expect(lines.map((line) => line.split(' ')[0]).toSorted()).toEqual(Object.keys(wrong).toSorted());
  for (const line of lines) expect(line).toMatch(/^[A-Z_]+ must .+\.$/);
  expect(error.message).not.toContain('short secret');
});

test('the well-known local JWT secret is accepted only for a local Supabase', () => {
  const SUPABASE_JWT_SECRET = localKeys.jwtSecret;
  const local = { ...required, SUPABASE_URL: 'http://127.0.0.1:54321', SUPABASE_JWT_SECRET };
  expect(loadConfig(local).secrets.supabaseJwtSecret).toBe(SUPABASE_JWT_SECRET);
  expect(errorOf({ SUPABASE_JWT_SECRET }).message).toMatch(/^SUPABASE_JWT_SECRET is the public secret/);
});

test('a value of the wrong kind is reported with the fix, and without a password', () => {
  for (const [variable, value, message] of [
    ['REDIS_URL', 'redis://:hush%zz@localhost', /^REDIS_URL contains a "%"(?!.*hush)/],
    ['CORS_ORIGINS', 'foo', /^CORS_ORIGINS must be a comma-separated list/],
    ['CORS_ORIGINS', '*', /^CORS_ORIGINS must be a comma-separated list/],
    ['CORS_ORIGINS', 'https://a.example,app.example', /^CORS_ORIGINS must be a comma-separated list/],
    [
      'CORS_ORIGINS',
      'https://*.example.com',
      /^CORS_ORIGINS must name each origin, because "\*" in https:\/\/\*\.exam/,
    ],
    ['CORS_ORIGINS', 'https://app.example.com:*', /^CORS_ORIGINS must name each origin/],
    ['CORS_ORIGINS', 'capacitor://*', /^CORS_ORIGINS must name each origin/],
    ['CORS_ORIGINS', 'https://App.example.com/', /^CORS_ORIGINS must contain https:\/\/app\.example\.com instead of/],
    ['CORS_ORIGINS', 'capacitor://localhost/app', /^CORS_ORIGINS must contain capacitor:\/\/localhost instead of/],
    ['CORS_ORIGINS', 'https://a.example:443', /^CORS_ORIGINS must contain https:\/\/a\.example instead of/],
    ['CORS_ORIGINS', 'https://ada:hush@a.example', /^CORS_ORIGINS must not contain a user or a password\.$/],
    ['CORS_ORIGINS', 'https://ada:hush@*.example', /^CORS_ORIGINS must not contain a user or a password\.$/],
    ['CORS_ORIGINS', 'https://a.example?key=hush', /^CORS_ORIGINS must contain https:\/\/a\.example instead(?!.*hush)/],
    ['CORS_ORIGINS', 'file:///', /^CORS_ORIGINS must be a comma-separated list/],
    ['SUPABASE_URL', 'https://api.example.com/rest/v1/', /^SUPABASE_URL must be .* project without a path/],
    ['SUPABASE_URL', 'https://api.example.com/auth/v1', /^SUPABASE_URL must be .* project without a path/],
  ] as const)
    expect(errorOf({ [variable]: value }).message).toMatch(message);
  const REDIS_URL = 'redis://:hush%25zz@localhost';
  expect(loadConfig({ ...required, REDIS_URL }).secrets.redisUrl).toBe(REDIS_URL);
});

test('the settings of Apple are all set, or none, and the key is one for ES256', () => {
  const pemOf = (namedCurve: string) =>
    generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
  const key = pemOf('P-256');
  const apple = {
    APPLE_TEAM_ID: 'TEAM567890',
    APPLE_KEY_ID: 'KEY4567890',
    APPLE_PRIVATE_KEY: key,
    APPLE_CLIENT_IDS: 'com.example.sounds, com.example.web',
  };
  const config = loadConfig({ ...required, ...apple });
  const clientIds = ['com.example.sounds', 'com.example.web'];
  expect(config.apple).toEqual({ teamId: 'TEAM567890', keyId: 'KEY4567890', clientIds });
  for (const APPLE_PRIVATE_KEY of [key, key.replaceAll('\n', '\\n')])
    expect(loadConfig({ ...required, ...apple, APPLE_PRIVATE_KEY }).secrets.applePrivateKey).toBe(key);
  expect(errorOf({ ...apple, APPLE_KEY_ID: ' ', APPLE_CLIENT_IDS: undefined }).message).toBe(
    ['APPLE_KEY_ID', 'APPLE_CLIENT_IDS']
      .map(
        (name) =>
          `${name} must be set, because others of Apple are: set ${Object.keys(apple).join(', ')}, or none of them.`,
      )
      .join('\n'),
  );
  for (const APPLE_PRIVATE_KEY of ['hush', pemOf('P-384'), key.slice(0, 90)])
    expect(errorOf({ ...apple, APPLE_PRIVATE_KEY }).message).toBe(
      'APPLE_PRIVATE_KEY must be the text of the .p8 file from the Apple developer account.',
    );
  expect(errorOf({ ...apple, APPLE_CLIENT_IDS: ',' }).message).toMatch(/^APPLE_CLIENT_IDS must be a comma-separated/);
  expect(errorOf({ ...apple, APPLE_TEAM_ID: 'My Team' }).message).toMatch(/^APPLE_TEAM_ID must be the 10 capital/);
});

test('variables that begin like known ones, but are not read, are listed', () => {
  const unknownOf = (name: string) => loadConfig({ ...required, [name]: 'x' }).unknownVariables;
  for (const name of ['RATE_LIMIT_PER_MINUT', 'SUPABASE_SERVICE_ROLE_KEY', 'CORS_ALLOWED_ORIGINS', 'TRUST_PROXYS'])
    expect(unknownOf(name)).toEqual([name]);
  // Ignore variables of the system, of development, of the Supabase CLI and of Kubernetes.
  for (const other of ['PATH', 'HOSTNAME', 'SUPABASE_DB_PORT', 'SUPABASE_ACCESS_TOKEN', 'REDIS_PORT_6379_TCP'])
    expect(unknownOf(other), other).toEqual([]);
});

test('swapped keys are reported, in the new and in the old format', () => {
  const jwt = (role: string) => `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ role })).toString('base64url')}.x`;
  for (const [publishable, secret] of [
    ['sb_publishable_x', 'sb_secret_x'],
    [jwt('anon'), jwt('service_role')],
  ] as const) {
    const keys = { SUPABASE_PUBLISHABLE_KEY: publishable, SUPABASE_SECRET_KEY: secret };
    expect(loadConfig({ ...required, ...keys }).supabase.publishableKey).toBe(publishable);
    const swapped = { SUPABASE_PUBLISHABLE_KEY: secret, SUPABASE_SECRET_KEY: publishable };
    expect(errorOf(swapped).message.split('\n')).toEqual([
      'SUPABASE_PUBLISHABLE_KEY contains a secret key: set it to the publishable key of the project.',
      'SUPABASE_SECRET_KEY contains the publishable key: set it to a secret key of the project.',
    ]);
  }
});

test('.env.example lists exactly the variables that are read, and works on a local machine', () => {
  const example = readFileSync('.env.example', 'utf8');
  const [ofGateway = ''] = example.split('# Development only');
  const names = [...ofGateway.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(names.toSorted()).toEqual(variableNames().toSorted());
  const config = loadConfig(parseEnv(example) as Record<string, string>);
  expect(config).toMatchObject({ requireHttps: false, supabase: { url: 'http://127.0.0.1:54321' } });
});
