import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { expect, test } from 'vitest';
import { ConfigError, loadConfig, variableNames } from '../src/config.ts';

const required = {
  SUPABASE_URL: 'https://project.supabase.co/',
  SUPABASE_PUBLISHABLE_KEY: 'sb_publishable_x',
  SUPABASE_SECRET_KEY: 'sb_secret_x',
};

test('only the address and the keys of the project are required', () => {
  expect(loadConfig(required)).toEqual({
    port: 3000,
    logLevel: 'info',
    requireHttps: true,
    trustProxy: false,
    metricsPort: null,
    keepAliveSeconds: 75,
    shutdownGraceSeconds: 20,
    rateLimits: { userPerMinute: 60, apiKeyPerMinute: 60, anonymousPerMinute: 300, signUpsPerHour: 30 },
    passwordCallsAtOnce: 8,
    idTokenProviders: ['google', 'apple'],
    imageTransformations: false,
    corsOrigins: [],
    supabase: {
      url: 'https://project.supabase.co',
      publicUrl: 'https://project.supabase.co',
      readUrl: null,
      publishableKey: 'sb_publishable_x',
    },
    secrets: { supabaseSecretKey: 'sb_secret_x', supabaseJwtSecret: null, redisUrl: null },
    unknownVariables: [],
  });
});

test('an empty variable counts as unset', () => {
  expect(loadConfig({ ...required, PORT: '', TRUST_PROXY: ' ', SUPABASE_JWT_SECRET: '' })).toEqual(
    loadConfig(required),
  );
});

test('trusted proxies are a number of hops or a list of addresses', () => {
  const trustProxyOf = (TRUST_PROXY: string) => loadConfig({ ...required, TRUST_PROXY }).trustProxy;
  expect(trustProxyOf('2')).toBe(2);
  expect(trustProxyOf('0')).toBe(false);
  expect(trustProxyOf('10.0.0.0/8, ::1')).toEqual(['10.0.0.0/8', '::1']);
  for (const wrong of ['true', 'abc', '1.2.3', '10.0.0.0/99', '0.0.0.0/0', '::/0', ',', '-1', '1.5', '300'])
    expect(() => trustProxyOf(wrong), wrong).toThrow(/^TRUST_PROXY must be a number of proxies/);
});

test('all problems are reported at once, each naming its variable, and no value is repeated', () => {
  const wrong = {
    PORT: '80a',
    SUPABASE_URL: 'project.supabase.co',
    SUPABASE_SECRET_KEY: 'sb_secret_x',
    SUPABASE_JWT_SECRET: 'short secret',
    TRUST_PROXY: 'true',
    REQUIRE_HTTPS: 'yes',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'loud',
    ID_TOKEN_PROVIDERS: 'google,facebook',
    CORS_ORIGINS: 'https://a.example/path',
    REDIS_URL: 'http://localhost:6379',
  };
  expect(() => loadConfig(wrong)).toThrow(ConfigError);
  try {
    loadConfig(wrong);
  } catch (error) {
    const lines = (error as Error).message.split('\n');
    const named = lines.map((line) => line.split(' ')[0]);
    expect(named.toSorted()).toEqual(
      [
        'CORS_ORIGINS',
        'ID_TOKEN_PROVIDERS',
        'LOG_LEVEL',
        'REDIS_URL',
        'PORT',
        'RATE_LIMIT_PER_MINUTE',
        'REQUIRE_HTTPS',
        'SUPABASE_JWT_SECRET',
        'SUPABASE_PUBLISHABLE_KEY',
        'SUPABASE_URL',
        'TRUST_PROXY',
      ].toSorted(),
    );
    for (const line of lines) expect(line).toMatch(/^[A-Z_]+ must .+\.$/);
    expect((error as Error).message).not.toContain('short secret');
  }
});

test('the well-known local JWT secret is accepted for a local Supabase only', () => {
  const SUPABASE_JWT_SECRET = LOCAL_KEYS.jwtSecret;
  const local = { ...required, SUPABASE_URL: 'http://127.0.0.1:54321', SUPABASE_JWT_SECRET };
  expect(loadConfig(local).secrets.supabaseJwtSecret).toBe(SUPABASE_JWT_SECRET);
  const hosted = { ...local, SUPABASE_URL: 'https://abcd.supabase.co' };
  expect(() => loadConfig(hosted)).toThrow(/^SUPABASE_JWT_SECRET must be taken out/);
});

test('a password of Redis that cannot be decoded is reported, and not repeated', () => {
  const withPassword = (password: string) => ({ ...required, REDIS_URL: `redis://:${password}@localhost` });
  expect(() => loadConfig(withPassword('hush%zz'))).toThrow(/^REDIS_URL must have "%"(?!.*hush)/);
  expect(loadConfig(withPassword('hush%25zz')).secrets.redisUrl).toContain('hush%25zz');
});

test('an origin without a scheme is reported as a problem of CORS_ORIGINS', () => {
  for (const CORS_ORIGINS of ['foo', '*', 'https://a.example,app.example'])
    expect(() => loadConfig({ ...required, CORS_ORIGINS })).toThrow(
      /^CORS_ORIGINS must be a comma-separated list/,
    );
});

test('an address of a part of Supabase is reported, where that of the project belongs', () => {
  for (const part of ['rest', 'auth', 'storage'])
    expect(() => loadConfig({ ...required, SUPABASE_URL: `https://abcd.supabase.co/${part}/v1/` })).toThrow(
      /^SUPABASE_URL must be the address of the project alone/,
    );
});

test('the log names variables that resemble known ones, with the one that is meant', () => {
  const meantBy = (name: string) => loadConfig({ ...required, [name]: 'x' }).unknownVariables;
  for (const [name, meant] of [
    ['RATE_LIMIT_PER_MINUT', 'RATE_LIMIT_PER_MINUTE'],
    ['SUPABASE_PUBLIC_URI', 'SUPABASE_PUBLIC_URL'],
    ['TRUST_PROXYS', 'TRUST_PROXY'],
    ['PROT', 'PORT'],
    ['SUPABASE_SERVICE_ROLE_KEY', null],
    ['CORS_ALLOWED_ORIGINS', null],
  ] as const)
    expect(meantBy(name)).toEqual([{ name, meant }]);
  // Variables of the system, of development, of the Supabase CLI and of Kubernetes.
  for (const other of ['PATH', 'HOST', 'SUPABASE_DB_PORT', 'SUPABASE_ACCESS_TOKEN', 'REDIS_PORT_6379_TCP'])
    expect(meantBy(other), other).toEqual([]);
});

test('swapped keys are reported, in the new format and in the old', () => {
  const jwt = (role: string) =>
    `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ role })).toString('base64url')}.x`;
  for (const [publishable, secret] of [
    ['sb_publishable_x', 'sb_secret_x'],
    [jwt('anon'), jwt('service_role')],
  ] as const) {
    const keys = { SUPABASE_PUBLISHABLE_KEY: publishable, SUPABASE_SECRET_KEY: secret };
    expect(loadConfig({ ...required, ...keys }).supabase.publishableKey).toBe(publishable);
    const swapped = { SUPABASE_PUBLISHABLE_KEY: secret, SUPABASE_SECRET_KEY: publishable };
    expect(() => loadConfig({ ...required, ...swapped })).toThrow(
      'SUPABASE_PUBLISHABLE_KEY must be the publishable key, and holds a secret one.\n' +
        'SUPABASE_SECRET_KEY must be a secret key, and holds the publishable one.',
    );
  }
});

test('.env.example lists every variable that is read, and no other', () => {
  const example = readFileSync('.env.example', 'utf8').split('# Development only')[0] ?? '';
  expect([...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name).sort()).toEqual(
    variableNames().sort(),
  );
});

test('.env.example is a configuration that works on a local machine', () => {
  const config = loadConfig(parseEnv(readFileSync('.env.example', 'utf8')) as Record<string, string>);
  expect(config).toMatchObject({ requireHttps: false, supabase: { url: 'http://127.0.0.1:54321' } });
});
