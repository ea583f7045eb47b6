import { decodeJwt } from 'jose';
import { z } from 'zod';
import { orElse } from '../shared/or-else.ts';
import { origin, projectAddress } from './addresses.ts';
import { appleClientIds, appleId, applePrivateKey, incompleteApple } from './apple.ts';
import { unknownVariables } from './unknown-variables.ts';

/** Identity providers, by their names in Supabase Auth. */
const idTokenProviders = ['google', 'apple'] as const;
export type IdTokenProvider = (typeof idTokenProviders)[number];

/** Error of loadConfig. Its message has one line for each problem. */
export class ConfigError extends Error {}

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .transform(Number)
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    });

const list = <S extends z.ZodType<string, string>>(item: S, fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value) => value.split(/[\s,]+/).filter((part) => part !== ''))
    .pipe(z.array(item));

const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

const host = z.union([z.ipv4(), z.ipv6(), z.literal('localhost')], {
  error: 'must be an address of this machine such as 127.0.0.1, or 0.0.0.0 for all',
});

/** Rejects /0, because it would trust X-Forwarded-For from every client. */
const isProxy = (value: string) => addressOrRange.safeParse(value).success && !value.endsWith('/0');

/** Returns the kind of a project key, by its prefix, or by the role of a legacy key (a JWT). */
function keyKind(key: string): 'publishable' | 'secret' | 'unknown' {
  const role = orElse(() => decodeJwt(key)['role'], '');
  if (key.startsWith('sb_publishable_') || role === 'anon') return 'publishable';
  return key.startsWith('sb_secret_') || role === 'service_role' ? 'secret' : 'unknown';
}

/** Public secret of all local stacks, with which anyone can forge tokens. */
const localJwtSecret = 'super-secret-jwt-token-with-at-least-32-characters-long';

const trueOrFalse = z.stringbool({
  truthy: ['true'],
  falsy: ['false'],
  case: 'sensitive',
  error: 'must be true or false',
});

const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
  error: 'must be one of trace, debug, info, warn, error, fatal, silent',
});

const proxies = z
  .string()
  .transform((value) => (/^\d{1,2}$/.test(value) ? Number(value) : value.split(/\s*,\s*/)))
  .refine(
    (value) => typeof value === 'number' || value.every(isProxy),
    'must be a number of proxies, or their addresses or CIDR ranges as a comma-separated list',
  );

const publishableKey = z
  .string({ error: 'must be set to the publishable key of the project' })
  .refine((key) => keyKind(key) !== 'secret', 'contains a secret key: set it to the publishable key of the project');

const secretKey = z
  .string({ error: 'must be set to a secret key of the project' })
  .refine(
    (key) => keyKind(key) !== 'publishable',
    'contains the publishable key: set it to a secret key of the project',
  );

const jwtSecretOf = (url: string) =>
  z
    .string()
    .min(32, 'must have at least 32 characters')
    .refine(
      (secret) => secret !== localJwtSecret || !url?.startsWith('https:'),
      'is the public secret of local stacks, with which anyone can forge tokens: remove it, or set the secret of the project',
    );

const redisAddress = z
  .url({ protocol: /^rediss?$/, error: 'must be an address such as redis://localhost:6379' })
  // ioredis decodes the user name and password.
  .refine(
    (value) => orElse(() => decodeURIComponent(value), null) !== null,
    'contains a "%" that is not part of an escape: write it as %25',
  );

const idTokenProvider = z.enum(idTokenProviders, { error: 'must be a comma-separated list of google and apple' });

export const defaultRateLimits = {
  userPerMinute: 60,
  apiKeyPerMinute: 60,
  anonymousPerMinute: 300,
  signUpsPerHour: 30,
  guestsPerHour: 30,
};

const budget = (fallback: number) => wholeNumber(1, 1_000_000).default(fallback);

type Read = <S extends z.ZodType>(variable: string, schema: S) => z.output<S>;

/** Returns the settings to revoke tokens at Apple, or null if one is missing. loadConfig rejects a part of them. */
function appleSettings(read: Read) {
  const teamId = read('APPLE_TEAM_ID', appleId);
  const keyId = read('APPLE_KEY_ID', appleId);
  const clientIds = read('APPLE_CLIENT_IDS', appleClientIds);
  return teamId && keyId && clientIds ? { teamId, keyId, clientIds } : null;
}

/** Returns all settings, each with its variable and its validation. An absent variable is undefined. */
function settings(read: Read) {
  const url = read('SUPABASE_URL', projectAddress);
  return {
    port: read('PORT', wholeNumber(0, 65_535).default(3000)),
    /** Address to listen at, also for metrics. If undefined, all addresses of this machine. */
    host: read('HOST', host.optional()),
    logLevel: read('LOG_LEVEL', logLevel.default('info')),
    requireHttps: read('REQUIRE_HTTPS', trueOrFalse.default(true)),
    imageTransformations: read('IMAGE_TRANSFORMATIONS', trueOrFalse.default(false)),
    /** Value of "trust proxy" in Express: a number of hops or a list of addresses. Default: false. */
    trustProxy: read('TRUST_PROXY', proxies.optional()) || (false as const),
    /** Port of the metrics. If null, none are collected. */
    metricsPort: read('METRICS_PORT', wholeNumber(0, 65_535).optional()) ?? null,
    /** Lifetime of idle connections. Must be longer than in load balancers, which otherwise use closed connections. */
    keepAliveSeconds: read('KEEP_ALIVE_SECONDS', wholeNumber(1, 3_600).default(75)),
    /** Time for which the gateway still accepts connections after SIGTERM. Part of shutdownGraceSeconds. */
    drainSeconds: read('DRAIN_SECONDS', wholeNumber(0, 600).default(2)),
    shutdownGraceSeconds: read('SHUTDOWN_GRACE_SECONDS', wholeNumber(0, 600).default(20)),
    rateLimits: {
      userPerMinute: read('RATE_LIMIT_PER_MINUTE', budget(defaultRateLimits.userPerMinute)),
      apiKeyPerMinute: read('API_KEY_RATE_LIMIT_PER_MINUTE', budget(defaultRateLimits.apiKeyPerMinute)),
      anonymousPerMinute: read('ANONYMOUS_RATE_LIMIT_PER_MINUTE', budget(defaultRateLimits.anonymousPerMinute)),
      signUpsPerHour: read('SIGN_UP_LIMIT_PER_HOUR', budget(defaultRateLimits.signUpsPerHour)),
      guestsPerHour: read('GUEST_LIMIT_PER_HOUR', budget(defaultRateLimits.guestsPerHour)),
    },
    /** Maximum number of concurrent calls to Auth that hash a password, in this process. */
    passwordCallsAtOnce: read('PASSWORD_CALLS_AT_ONCE', wholeNumber(1, 1_000).default(8)),
    /** Name of the app on the page that deletes an account. If null, the page says "this app". */
    appName: read('APP_NAME', z.string().max(60, 'must have at most 60 characters').optional()) ?? null,
    idTokenProviders: read('ID_TOKEN_PROVIDERS', list(idTokenProvider, 'google,apple')),
    /** Null unless the gateway revokes tokens at Apple. `clientIds` has at least one. */
    apple: appleSettings(read),
    /** Web origins that may call from a browser. If empty, CORS is off. */
    corsOrigins: read('CORS_ORIGINS', list(origin, '')),
    supabase: {
      url,
      /** Address in signed URLs, which phones must reach. */
      publicUrl: read('SUPABASE_PUBLIC_URL', projectAddress.optional()) ?? url,
      /** Address of a read replica for reads of the catalogue. If null, the primary answers them. */
      readUrl: read('SUPABASE_READ_URL', projectAddress.optional()) ?? null,
      publishableKey: read('SUPABASE_PUBLISHABLE_KEY', publishableKey),
    },
    /** Secrets are separate, because the other settings may be logged. */
    secrets: {
      supabaseSecretKey: read('SUPABASE_SECRET_KEY', secretKey),
      supabaseJwtSecret: read('SUPABASE_JWT_SECRET', jwtSecretOf(url).optional()) ?? null,
      /** May contain a password. If null, each process counts rate limits by itself. */
      redisUrl: read('REDIS_URL', redisAddress.optional()) ?? null,
      /** PEM. Null exactly if `apple` is null. */
      applePrivateKey: read('APPLE_PRIVATE_KEY', applePrivateKey) ?? null,
    },
  };
}

export type Config = Readonly<ReturnType<typeof settings>> & {
  /** Variables that are set but not read, and begin like settings of the gateway. */
  unknownVariables: ReturnType<typeof unknownVariables>;
};

export function configOrExit(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(`The configuration is invalid:\n${error.message}`);
    if (!process.env['SUPABASE_URL'] && !process.env['SUPABASE_SECRET_KEY'])
      console.error(
        'No Supabase project is configured. Run cp .env.example .env, then set the address and keys of your project in .env.',
      );
    process.exit(1);
  }
}

/** Reads the settings. Trims them, because secrets often end in a newline. @throws ConfigError with all problems */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const config = settings((variable, schema) => {
    const { data, error } = schema.safeParse(env[variable]?.trim() || undefined);
    for (const { message } of error?.issues ?? []) problems.push(`${variable} ${message}.`);
    return data as z.output<typeof schema>;
  });
  problems.push(...incompleteApple(env));
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  const present = Object.keys(env).filter((name) => env[name]?.trim());
  return { ...config, unknownVariables: unknownVariables(present, variableNames()) };
}

export function variableNames(): string[] {
  const names: string[] = [];
  settings((variable) => {
    names.push(variable);
    return undefined as never;
  });
  return names;
}
