import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Called part of Supabase. `replica` is the data API of a replica, `keys` the key set for tokens, `export` the data API for an export. */
export type Service = 'auth' | 'data' | 'replica' | 'storage' | 'keys' | 'export';

/** Histogram buckets in seconds, up to the deadline of Auth. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 11];

/**
 * Creates the metrics for Prometheus. Labels have few values and none that clients choose, because every combination is a series for
 * the life of the process.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,

    requests: new Histogram({
      name: 'sounds_http_request_duration_seconds',
      help: 'Requests by operation ("none" for what is no endpoint) and status ("aborted" when the client went away).',
      labelNames: ['operation', 'status'],
      buckets: durations,
      registers,
    }),

    upstreamCalls: new Histogram({
      name: 'sounds_upstream_request_duration_seconds',
      help: 'Calls to Supabase by service (auth, data, replica, storage, keys) and outcome (ok, rejected, limited, failed, unanswered).',
      labelNames: ['service', 'outcome'],
      buckets: durations,
      registers,
    }),

    rateLimitDecisions: new Counter({
      name: 'sounds_rate_limit_decisions_total',
      help: 'Decisions (allowed, limited) of the general limit by whom it counts (user, api_key, address), and of the others by name.',
      labelNames: ['bucket', 'decision'],
      registers,
    }),

    joinedReads: new Counter({
      name: 'sounds_coalesced_reads_total',
      help: 'Reads that were answered by a run which an identical read had asked for.',
      registers,
    }),

    mailsNotSent: new Counter({
      name: 'sounds_mails_not_sent_total',
      help: 'Mails with a code that Supabase Auth did not send: its quota is used up, or the last mail is too young.',
      registers,
    }),

    /** Reports at every scrape whether limits are shared. Call it only with Redis. */
    watchSharing(isShared: () => boolean) {
      new Gauge({
        name: 'sounds_rate_limits_shared',
        help: '1 while rate limits are counted in Redis, 0 while each process counts by itself. Absent without Redis.',
        registers,
        collect() {
          this.set(isShared() ? 1 : 0);
        },
      });
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Returns the outcome of a call: rejected by Supabase (such as a wrong password), limited by it, or failed.
 * @param status null when no whole response arrived in time
 */
export function outcomeOf(status: number | null) {
  if (status === null) return 'unanswered';
  if (status < 400) return 'ok';
  if (status === 429) return 'limited';
  return status < 500 ? 'rejected' : 'failed';
}

/** Creates the server of GET /metrics, for a port that only Prometheus can reach. It does not listen yet. */
export function createMetricsServer({ registry }: Metrics): Server {
  return createServer(async (req, res) => {
    if (req.method !== 'GET' || req.url !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    res.setHeader('Content-Type', registry.contentType);
    res.end(await registry.metrics());
  });
}
