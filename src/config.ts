import { decodeJwt } from 'jose';
import { z } from 'zod';

/** As Supabase Auth names them. */
export type IdTokenProvider = 'google' | 'apple';

/** What the process is configured with. `secrets` is a branch of its own so that the rest may be logged. */
export type Config = Readonly<{
  port: number;
  logLevel: string;
  requireHttps: boolean;
  /** What Express takes as "trust proxy": a number of hops or a list of addresses; false trusts nobody. */
  trustProxy: number | string[] | false;
  /** Where metrics are served; null collects none. */
  metricsPort: number | null;
  shutdownGraceSeconds: number;
  rateLimits: Readonly<{
    userPerMinute: number;
    apiKeyPerMinute: number;
    anonymousPerMinute: number;
    signUpsPerHour: number;
  }>;
  /** How many calls that hash a password Auth is sent at the same time, by all processes that share a Redis. */
  passwordCallsAtOnce: number;
  /** Identity providers whose ID tokens are exchanged. */
  idTokenProviders: readonly IdTokenProvider[];
  /** Web origins that may call from a browser; empty switches CORS off. */
  corsOrigins: readonly string[];
  supabase: Readonly<{
    url: string;
    /** The address that phones reach, put into signed URLs. */
    publicUrl: string;
    /** Where a read replica answers reads of the catalogue; null has the primary answer them. */
    readUrl: string | null;
    publishableKey: string;
  }>;
  secrets: Readonly<{
    supabaseSecretKey: string;
    supabaseJwtSecret: string | null;
    /** May hold a password; null keeps rate limits and places for password calls in each process. */
    redisUrl: string | null;
  }>;
}>;

/** Thrown by loadConfig; the message lists every problem, one a line, each with its remedy. */
export class ConfigError extends Error {}

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .transform(Number)
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    });

const address = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://abcd.supabase.co' })
  .transform((value) => new URL(value).href.replace(/\/+$/, ''));

const list = <S extends z.ZodType<string, string>>(item: S, fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item));

const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** A range of every address would believe what anybody claims. */
const isProxy = (value: string) => addressOrRange.safeParse(value).success && !value.endsWith('/0');

/** What a key of the project is for, by its prefix, or by its role where it is a legacy key (a JWT). */
function keyKind(key: string): 'publishable' | 'secret' | 'unknown' {
  const role = /^eyJ/.test(key) ? decodeRole(key) : '';
  if (key.startsWith('sb_publishable_') || role === 'anon') return 'publishable';
  return key.startsWith('sb_secret_') || role === 'service_role' ? 'secret' : 'unknown';
}

function decodeRole(key: string): unknown {
  try {
    return decodeJwt(key)['role'];
  } catch {
    return '';
  }
}

/** ioredis decodes the user name and the password, and throws where it cannot. */
function isPercentEncoded(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

/** Of every local stack: with it anybody can make the tokens of any user. */
const localJwtSecret = 'super-secret-jwt-token-with-at-least-32-characters-long';

const Variables = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  SUPABASE_URL: address,
  SUPABASE_PUBLISHABLE_KEY: z
    .string({ error: 'must be set: the publishable key of the project' })
    .refine((key) => keyKind(key) !== 'secret', 'must be the publishable key, and holds a secret one'),
  SUPABASE_SECRET_KEY: z
    .string({ error: 'must be set: a secret key of the project' })
    .refine((key) => keyKind(key) !== 'publishable', 'must be a secret key, and holds the publishable one'),
  SUPABASE_PUBLIC_URL: address.optional(),
  SUPABASE_READ_URL: address.optional(),
  SUPABASE_JWT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  ID_TOKEN_PROVIDERS: list(
    z.enum(['google', 'apple'], { error: 'must be a comma-separated list of google and apple' }),
    'google,apple',
  ),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be an address such as redis://localhost:6379' })
    .refine(isPercentEncoded, 'must have "%" in its user name and password written as %25')
    .optional(),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000).default(60),
  API_KEY_RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000).default(60),
  ANONYMOUS_RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000).default(300),
  SIGN_UP_LIMIT_PER_HOUR: wholeNumber(1, 1_000_000).default(30),
  PASSWORD_CALLS_AT_ONCE: wholeNumber(1, 1_000).default(16),
  TRUST_PROXY: z
    .string()
    .transform((value) => (/^\d{1,2}$/.test(value) ? Number(value) : value.split(/\s*,\s*/)))
    .refine(
      (value) => typeof value === 'number' || value.every(isProxy),
      'must be a number of proxies, or their addresses or CIDR ranges as a comma-separated list',
    )
    .optional(),
  REQUIRE_HTTPS: z.enum(['true', 'false'], { error: 'must be true or false' }).default('true'),
  CORS_ORIGINS: list(
    z
      .url({
        error: 'must be a comma-separated list of origins such as https://app.example.com',
        abort: true,
      })
      .refine((value) => new URL(value).origin === value, 'must hold origins: no path, no slash at the end'),
    '',
  ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, fatal, silent',
    })
    .default('info'),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 600).default(20),
});

/** Every variable that the gateway reads, in the order of .env.example. */
export const variables = Object.keys(Variables.shape);

const Environment = Variables.refine(
  (env) => env.SUPABASE_JWT_SECRET !== localJwtSecret || !env.SUPABASE_URL.startsWith('https:'),
  {
    path: ['SUPABASE_JWT_SECRET'],
    error:
      'must be taken out, or be that of the project: the one of local stacks, with which anybody can forge users, is not taken beside an https address',
  },
);

/** The configuration of this process, which ends, saying why, when it is not usable. */
export function configOrExit(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(`The configuration is not usable:\n${error.message}`);
    process.exit(1);
  }
}

/**
 * Reads the configuration from environment variables. An empty variable counts as absent.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const { success, data, error } = Environment.safeParse(present);
  if (!success) {
    throw new ConfigError(
      error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}.`).join('\n'),
    );
  }
  return {
    port: data.PORT,
    logLevel: data.LOG_LEVEL,
    requireHttps: data.REQUIRE_HTTPS === 'true',
    trustProxy: data.TRUST_PROXY || false,
    metricsPort: data.METRICS_PORT ?? null,
    shutdownGraceSeconds: data.SHUTDOWN_GRACE_SECONDS,
    rateLimits: {
      userPerMinute: data.RATE_LIMIT_PER_MINUTE,
      apiKeyPerMinute: data.API_KEY_RATE_LIMIT_PER_MINUTE,
      anonymousPerMinute: data.ANONYMOUS_RATE_LIMIT_PER_MINUTE,
      signUpsPerHour: data.SIGN_UP_LIMIT_PER_HOUR,
    },
    passwordCallsAtOnce: data.PASSWORD_CALLS_AT_ONCE,
    idTokenProviders: data.ID_TOKEN_PROVIDERS,
    corsOrigins: data.CORS_ORIGINS,
    supabase: {
      url: data.SUPABASE_URL,
      publicUrl: data.SUPABASE_PUBLIC_URL ?? data.SUPABASE_URL,
      readUrl: data.SUPABASE_READ_URL ?? null,
      publishableKey: data.SUPABASE_PUBLISHABLE_KEY,
    },
    secrets: {
      supabaseSecretKey: data.SUPABASE_SECRET_KEY,
      supabaseJwtSecret: data.SUPABASE_JWT_SECRET ?? null,
      redisUrl: data.REDIS_URL ?? null,
    },
  };
}
