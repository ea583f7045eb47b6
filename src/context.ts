import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createPasswordQueue } from './limits/password-queue.ts';
import { createTrustedClients, type TrustedClients } from './limits/trusted-clients.ts';
import { createLogger } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Caller, UserCaller } from './model/caller.ts';
import { connectRedis, type SharedRedis } from './redis.ts';
import { createVerifier } from './supabase/access-token.ts';
import { type Auth, createAuth } from './supabase/auth/auth-client.ts';
import { createClients } from './supabase/clients.ts';
import { createData, type Data } from './supabase/data.ts';
import { createDataStream } from './supabase/data-stream.ts';
import { createFetch, type Upstream } from './supabase/fetch.ts';
import { createFiles, type Files } from './supabase/files.ts';
import { createLastSeen } from './supabase/last-seen.ts';
import { withReplica } from './supabase/replica.ts';

/** Dependencies of the app. */
export type Context = Readonly<{
  config: Config;
  log: Logger;
  /** Null unless METRICS_PORT is set. */
  metrics: Metrics | null;
  upstream: Upstream;
  auth: Auth;
  data: Data;
  files: Files;
  verify: (token: string) => Promise<UserCaller>;
  /** Null unless REDIS_URL is set. */
  redis: SharedRedis | null;
  trustedClients: TrustedClients;
  /** Hashes of API keys with which a request succeeded within the last hour. */
  activeKeys: LRUCache<string, true>;
  recordLastSeen: (caller: Caller | null) => void;
  /** `draining` is true once the process is ending and must get no more requests. */
  lifecycle: { draining: boolean };
  /**
   * Closes all connections. Call it when no request is in flight.
   * @param graceMs time after which calls to Supabase that continue after a response, such as mails, are aborted
   */
  close: (graceMs?: number) => Promise<void>;
}>;

/** Creates the dependencies of the app. Calls nothing of Supabase. */
export function createContext(config: Config, log: Logger = createLogger(config)): Context {
  const metrics = config.metricsPort === null ? null : createMetrics();
  const upstream = createFetch(metrics);
  const { url, readUrl } = config.supabase;
  const clients = createClients(
    config,
    readUrl === null ? upstream.fetch : withReplica(upstream.fetch, url, readUrl, log),
  );
  const data = createData(clients, createDataStream(config, upstream));
  const { redisUrl } = config.secrets;
  const redis = redisUrl === null ? null : connectRedis(redisUrl, log);
  return {
    config,
    log,
    metrics,
    upstream,
    auth: createAuth(config, upstream.fetch, createPasswordQueue(config.passwordCallsAtOnce)),
    data,
    files: createFiles(config, clients),
    verify: createVerifier(config, upstream.fetch),
    redis,
    trustedClients: createTrustedClients(redis),
    activeKeys: new LRUCache({ max: 10_000, ttl: 3_600_000 }),
    recordLastSeen: createLastSeen(data, log),
    lifecycle: { draining: false },
    close: async (graceMs = config.shutdownGraceSeconds * 1000) => {
      redis?.close();
      await upstream.close(graceMs);
    },
  };
}
