import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createTrustedClients } from './limits/trusted-clients.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import { connectRedis } from './redis.ts';
import { createVerifier } from './supabase/access-token.ts';
import { createAuth } from './supabase/auth/auth-client.ts';
import { createClients } from './supabase/clients.ts';
import { createData } from './supabase/data.ts';
import { createDataJson } from './supabase/data-json.ts';
import { createDataStream } from './supabase/data-stream.ts';
import { createFetch } from './supabase/fetch.ts';
import { createFiles } from './supabase/files.ts';
import { createLastSeen } from './supabase/last-seen.ts';
import { createReadiness } from './supabase/readiness.ts';
import { withReplica } from './supabase/replica.ts';

/** Creates the dependencies of the app, without any call to Supabase. */
export function createContext(config: Config, log: Logger = createLogger(config)) {
  const metrics = config.metricsPort === null ? null : createMetrics();
  const upstream = createFetch(metrics);
  const { url, readUrl } = config.supabase;
  const fetch = readUrl === null ? upstream.fetch : withReplica(upstream.fetch, url, readUrl, log);
  const clients = createClients(config, fetch);
  const data = createData(clients, createDataStream(config, upstream), createDataJson(config, fetch));
  const { redisUrl } = config.secrets;
  const redis = redisUrl === null ? null : connectRedis(redisUrl, log);
  return {
    config,
    log,
    /** Null unless METRICS_PORT is set. */
    metrics,
    upstream,
    auth: createAuth(config, upstream.fetch),
    data,
    files: createFiles(config, clients),
    verify: createVerifier(config, upstream.fetch),
    /** Null unless REDIS_URL is set. */
    redis,
    trustedClients: createTrustedClients(redis),
    /** Hashes of API keys with which a request succeeded within the last hour. */
    activeKeys: new LRUCache<string, true>({ max: 10_000, ttl: 3_600_000 }),
    recordLastSeen: createLastSeen(data, log),
    checkReadiness: createReadiness(config, upstream, redis, log),
    /** `draining` is true once the shutdown has begun. */
    lifecycle: { draining: false },
    /**
     * Closes all connections. Call it when no request is in flight.
     * @param graceMs time after which calls to Supabase that continue after a response, such as mails, are aborted
     */
    close: async (graceMs = config.shutdownGraceSeconds * 1000) => {
      redis?.close();
      await upstream.close(graceMs);
    },
  };
}

export type Context = Readonly<ReturnType<typeof createContext>>;
