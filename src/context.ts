import { type Logger, pino } from 'pino';
import { type AuthApi, createAuthApi } from './auth-api.ts';
import { type Caller, createVerifier, type UserCaller } from './caller.ts';
import type { Config } from './config.ts';
import { createLastSeen } from './last-seen.ts';
import { createRateLimits, type RateLimits } from './rate-limit.ts';
import { connectRedis } from './redis.ts';
import { createSupabase, type Supabase } from './supabase.ts';
import { createUpstream, type Upstream } from './upstream.ts';

/** What the app is wired with. */
export type Context = Readonly<{
  config: Config;
  log: Logger;
  upstream: Upstream;
  auth: AuthApi;
  supabase: Supabase;
  verify: (token: string) => Promise<UserCaller>;
  rateLimits: RateLimits;
  noteLastSeen: (caller: Caller | null) => void;
  /** Undoes createContext; call it when no request is in flight any more. */
  close: () => Promise<void>;
}>;

/** Wires the app. Nothing is connected before the first request needs it. */
export function createContext(config: Config, log: Logger = pino({ level: config.logLevel })): Context {
  const upstream = createUpstream();
  const supabase = createSupabase(config, upstream);
  const { redisUrl } = config.secrets;
  const redis = redisUrl === null ? null : connectRedis(redisUrl, log);
  return {
    config,
    log,
    upstream,
    auth: createAuthApi(config, upstream),
    supabase,
    verify: createVerifier(config, upstream),
    rateLimits: createRateLimits(config, redis, log),
    noteLastSeen: createLastSeen(supabase, log),
    close: async () => {
      redis?.disconnect();
      await upstream.close();
    },
  };
}
