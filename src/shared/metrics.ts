import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Part of Supabase. `replica` and `export` are the data API, too; `keys` is the key set for access tokens. */
export type Service = 'auth' | 'data' | 'replica' | 'storage' | 'keys' | 'export';

/** Histogram buckets in seconds, up to the deadline of Auth. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 11];

/** Creates the metrics for Prometheus. Clients must not choose values of labels, because each one makes a series. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,

    requests: new Histogram({
      name: 'sounds_http_request_duration_seconds',
      help: 'Requests by operation ("none" for unknown paths) and status ("aborted" if the client disconnected).',
      labelNames: ['operation', 'status'],
      buckets: durations,
      registers,
    }),

    upstreamCalls: new Histogram({
      name: 'sounds_upstream_request_duration_seconds',
      help: 'Calls to Supabase by service (auth, data, replica, storage, keys, export) and outcome (ok, rejected, limited, failed, unanswered).',
      labelNames: ['service', 'outcome'],
      buckets: durations,
      registers,
    }),

    rateLimitDecisions: new Counter({
      name: 'sounds_rate_limit_decisions_total',
      help: 'Decisions (allowed, limited) by bucket: user, api_key or address for the general limit, else the name of the limit.',
      labelNames: ['bucket', 'decision'],
      registers,
    }),

    joinedReads: new Counter({
      name: 'sounds_coalesced_reads_total',
      help: 'Reads that shared the execution of an identical concurrent read.',
      registers,
    }),

    mailsNotSent: new Counter({
      name: 'sounds_mails_not_sent_total',
      help: 'Mails with a code that Supabase Auth did not send: its quota is used up, or the last mail is too recent.',
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

/** Returns the outcome of a call by its status, which is null without a whole response. "rejected" is a 4xx. */
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
