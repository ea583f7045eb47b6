import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type AuthApi, createAuthApi } from './auth-api.ts';
import { type Caller, createVerifier, type UserCaller } from './caller.ts';
import type { Config } from './config.ts';
import { createLastSeen } from './last-seen.ts';
import { createLogger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { createRateLimits, type RateLimits } from './rate-limit.ts';
import { createSupabase, type Supabase } from './supabase.ts';
import { createUpstream, type Upstream } from './upstream.ts';

/** What the app is wired with. */
export type Context = Readonly<{
  config: Config;
  log: Logger;
  /** Null while nobody reads them. */
  metrics: Metrics | null;
  upstream: Upstream;
  auth: AuthApi;
  supabase: Supabase;
  verify: (token: string) => Promise<UserCaller>;
  rateLimits: RateLimits;
  redis: Redis | null;
  noteLastSeen: (caller: Caller | null) => void;
  /** Draining: this process is about to end and should be sent nothing more. */
  lifecycle: { draining: boolean };
  /** Undoes createContext; call it when no request is in flight any more. */
  close: () => Promise<void>;
}>;

/** Wires the app. Nothing is connected before the first request needs it. */
export async function createContext(config: Config, log: Logger = createLogger(config)): Promise<Context> {
  // What not everybody asks for is loaded only for those who do: 1 MB for metrics, 5 MB for the client of Redis.
  const metrics = config.metricsPort === null ? null : (await import('./metrics.ts')).createMetrics();
  const upstream = createUpstream(config.supabase.url, metrics);
  const supabase = createSupabase(config, upstream);
  const { redisUrl } = config.secrets;
  const redis = redisUrl === null ? null : (await import('./redis.ts')).connectRedis(redisUrl, log);
  return {
    config,
    log,
    metrics,
    upstream,
    auth: createAuthApi(config, upstream),
    supabase,
    verify: createVerifier(config, upstream),
    rateLimits: createRateLimits(config, redis, log, metrics),
    redis,
    lifecycle: { draining: false },
    noteLastSeen: createLastSeen(supabase, log),
    close: async () => {
      redis?.disconnect();
      await upstream.close();
    },
  };
}
