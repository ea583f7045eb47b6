import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { type Apple, appleAddress, createApple } from './apple/apple.ts';
import type { Config } from './config/config.ts';
import { createTrustedClients, type TrustedClients } from './limits/trusted-clients.ts';
import type { Caller, UserCaller } from './model/caller.ts';
import { createLogger } from './shared/logger.ts';
import { lruCache } from './shared/lru-cache.ts';
import { createMetrics, type Metrics } from './shared/metrics.ts';
import { connectRedis, type SharedRedis } from './shared/redis.ts';
import { createVerifier } from './supabase/access-token.ts';
import { createAppSettings, type OperatorSettings } from './supabase/app-settings.ts';
import type { Auth } from './supabase/auth/auth.ts';
import { createAuth } from './supabase/auth/auth-client.ts';
import { createClients } from './supabase/clients.ts';
import { createData, type Data } from './supabase/data.ts';
import { createDataBytes } from './supabase/data-bytes.ts';
import { createFetch } from './supabase/fetch.ts';
import { createFiles, type Files } from './supabase/files.ts';
import { createLastSeen } from './supabase/last-seen.ts';
import { createReadiness, type Readiness } from './supabase/readiness.ts';

export interface Context {
  readonly config: Config;
  readonly log: Logger;
  /** Null unless METRICS_PORT is set. */
  readonly metrics: Metrics | null;
  readonly auth: Auth;
  /** Null unless the settings of Apple are set. */
  readonly apple: Apple | null;
  readonly data: Data;
  readonly files: Files;
  /** Null unless REDIS_URL is set. */
  readonly redis: SharedRedis | null;
  readonly trustedClients: TrustedClients;
  /** Hashes of API keys that the database has accepted within the last hour. */
  readonly activeKeys: LRUCache<string, true>;
  /** State of the process. `draining` becomes true when the shutdown begins. */
  readonly lifecycle: { draining: boolean };
  /** Returns the caller of an access token. @throws ApiError unauthorized, or server_error if the keys are missing */
  verify(token: string): Promise<UserCaller>;
  /** Returns the settings of the operator for apps. @throws ApiError or Error if none are known yet */
  appSettings(): Promise<OperatorSettings>;
  /** Records that a user was seen, after this request. Never throws. */
  recordLastSeen(caller: Caller | null): void;
  /** Tells whether Supabase answers and accepts the keys, with the parts that were checked. Never throws. */
  checkReadiness(): Promise<Readiness>;
  /** Closes all connections, once no request is in flight. Calls that outlive a response get graceMs to end. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Creates the dependencies of the app, without any call to Supabase.
 * @param apple address of Apple, which development and tests replace
 */
export function createContext(config: Config, log: Logger = createLogger(config), apple = appleAddress): Context {
  const metrics = config.metricsPort === null ? null : createMetrics();
  const upstream = createFetch(metrics);
  const clients = createClients(config, upstream.fetch);
  const activeKeys = lruCache<true>(10_000, 3_600_000);
  const data = createData(clients, createDataBytes(config, upstream, log), activeKeys);
  const { redisUrl } = config.secrets;
  const redis = redisUrl === null ? null : connectRedis(redisUrl, log);
  return {
    config,
    log,
    metrics,
    auth: createAuth(config, upstream.fetch),
    apple: createApple(config, apple),
    data,
    files: createFiles(config, clients),
    appSettings: createAppSettings(data),
    redis,
    trustedClients: createTrustedClients(redis),
    activeKeys,
    lifecycle: { draining: false },
    verify: createVerifier(config, upstream.fetch),
    recordLastSeen: createLastSeen(data, log),
    checkReadiness: createReadiness(config, upstream, redis, log),
    close: async (graceMs = config.shutdownGraceSeconds * 1000) => {
      redis?.close();
      await upstream.close(graceMs);
    },
  };
}
