import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Which part of Supabase is called: `replica` is the data API of one, `keys` are those that access tokens are verified with, `export` is
 * the data API for whole accounts, until the client has all of one.
 */
export type Service = 'auth' | 'data' | 'replica' | 'storage' | 'keys' | 'export';

/** In seconds. Reads take tens of milliseconds; deadlines are 5 s for data and 11 s for Auth. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 11];

/**
 * What the process tells Prometheus. Labels have few values, none of which a client chooses: every combination is a
 * series for as long as the process lives.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'sounds_http_request_duration_seconds',
    help: 'Requests by operation ("none" for what is no endpoint) and status ("aborted" when the client went away).',
    labelNames: ['operation', 'status'],
    buckets: durations,
    registers,
  });
  const upstreamCalls = new Histogram({
    name: 'sounds_upstream_request_duration_seconds',
    help: 'Calls to Supabase by service (auth, data, replica, storage, keys) and outcome (ok, rejected, limited, failed, unanswered).',
    labelNames: ['service', 'outcome'],
    buckets: durations,
    registers,
  });
  const rateLimitDecisions = new Counter({
    name: 'sounds_rate_limit_decisions_total',
    help: 'Decisions (allowed, limited) of the general limit by whom it counts (user, api_key, address), and of the others by name.',
    labelNames: ['bucket', 'decision'],
    registers,
  });
  const joinedReads = new Counter({
    name: 'sounds_coalesced_reads_total',
    help: 'Reads that were answered by a run which an identical read had asked for.',
    registers,
  });

  const mailsNotSent = new Counter({
    name: 'sounds_mails_not_sent_total',
    help: 'Mails with a code that Supabase Auth did not send: its quota is used up, or the last mail is too young.',
    registers,
  });

  return {
    registry,

    /** @param status null when the client went away before its answer was written */
    requestEnded(operation: string, status: number | null, durationMs: number) {
      requests.observe({ operation, status: status ?? 'aborted' }, durationMs / 1000);
    },

    /** @param status null when there was no whole answer in time */
    upstreamAnswered(service: Service, status: number | null, durationMs: number) {
      upstreamCalls.observe({ service, outcome: outcomeOf(status) }, durationMs / 1000);
    },

    rateLimitDecided(bucket: string, limited: boolean) {
      rateLimitDecisions.inc({ bucket, decision: limited ? 'limited' : 'allowed' });
    },

    readJoined() {
      joinedReads.inc();
    },

    mailNotSent() {
      mailsNotSent.inc();
    },

    /** Reports at every scrape whether limits are shared. Without Redis there is nothing to report. */
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
 * Rejected: Supabase decided against the call, as it does for a wrong password. Limited: it takes no more from us.
 * Failed: it could not decide.
 */
function outcomeOf(status: number | null) {
  if (status === null) return 'unanswered';
  if (status < 400) return 'ok';
  if (status === 429) return 'limited';
  return status < 500 ? 'rejected' : 'failed';
}

/** Serves GET /metrics and nothing else; it does not listen yet. For a port that only Prometheus can reach. */
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
