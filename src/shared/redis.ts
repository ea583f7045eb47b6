import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';

/** Command timeout. Redis is then skipped for skippedMs. */
const commandTimeoutMs = 500;
const skippedMs = 1_000;

/** Log messages for errors of Redis that an operator must fix. */
const causes: [RegExp, string][] = [
  [/^(MOVED|ASK|CLUSTERDOWN)/, 'is a node of a cluster: use a single Redis'],
  [/^NOPERM/, 'denies the user of REDIS_URL a command or key: grant +@all ~sounds:*'],
  [/^(WRONGPASS|NOAUTH)/, 'does not accept the user and password of REDIS_URL: correct them'],
  [/DB index is out of range/, 'has no database of that number: correct the end of REDIS_URL'],
  [/^OOM/, 'is full: raise its maxmemory, or set maxmemory-policy to volatile-ttl'],
  [/^READONLY/, 'is a read-only replica: use its primary'],
  [
    /self.signed certificate|unable to (verify|get)/,
    'has a certificate of an unknown authority: set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority',
  ],
  [/ETIMEDOUT/, 'does not answer: check the address in REDIS_URL, and write redis:// instead of rediss:// without TLS'],
  [/certificate has expired/, 'has a certificate that has expired: renew it'],
  [/altnames/, 'has a certificate for another name: use that name in REDIS_URL'],
];

/** Returns why Redis cannot be used. Omits arguments that Redis repeats, because they may contain the password. */
function reasonOf(error: unknown): string {
  const { message = String(error), code } = error as NodeJS.ErrnoException;
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1];
  return cause ?? (message.replace(/,? with args.*/s, '') || code || 'failed');
}

/** Rejects after commandTimeoutMs, unless the reply has arrived and only waits for a busy event loop. */
function inTime<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`did not reply within ${commandTimeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(late), commandTimeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const clientOptions = {
  enableOfflineQueue: false,
  enableReadyCheck: false, // watchAvailability checks more than ioredis does
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  commandTimeout: 2_000, // for the commands that ioredis sends while it connects
  retryStrategy: (attempt: number) => Math.min(attempt * 100, 1_000),
} satisfies RedisOptions;

/** Keeps whether Redis can be used, and logs each change. */
function createState(log: Logger) {
  let problem: string | null = 'is not connected yet';
  let isLogged = false;
  const settled = Promise.withResolvers<void>();

  return {
    settled: settled.promise,
    problem: () => problem,

    /** Records a state, and logs it if it is new. @param next why Redis cannot be used; null if it is up */
    change(next: string | null) {
      const isNews = !isLogged || (next === null) !== (problem === null);
      problem = next;
      if (!isNews) return;
      isLogged = true;
      settled.resolve();
      if (next === null) log.info('Redis is connected: rate limits are shared');
      else log.warn({ reason: next }, `Redis ${next}. Until it can be used, each process limits by itself.`);
    },
  };
}

/**
 * Watches whether Redis can be used: it is up once all checks pass, and down for a second after a failure. Logs each
 * change.
 */
function watchAvailability(client: Redis, log: Logger) {
  const checks: (() => Promise<unknown>)[] = [];
  const { settled, problem, change } = createState(log);
  let nextCheck: NodeJS.Timeout | undefined;
  let connectError: unknown;

  function failed(error: unknown) {
    change(reasonOf(error));
    nextCheck ??= setTimeout(check, skippedMs).unref();
  }

  async function check() {
    nextCheck = undefined;
    if (client.status !== 'ready') return; // the event "ready" runs it again
    try {
      if (connectError !== undefined) throw connectError;
      await Promise.all(checks.map((run) => run()));
      if (nextCheck === undefined) change(null);
    } catch (error) {
      failed(error);
    }
  }

  function disconnected(error?: unknown) {
    connectError = error; // ioredis may continue after an error, for example with the wrong database
    change(error === undefined ? (problem() ?? 'closed the connection') : reasonOf(error));
  }
  client.on('ready', check).on('error', disconnected).on('close', disconnected);

  return {
    checks,
    failed,
    settled,
    problem,
    end() {
      clearTimeout(nextCheck);
      client.off('close', disconnected);
    },
  };
}

/** Connects to Redis. */
export function connectRedis(url: string, log: Logger) {
  const client = new Redis(url, clientOptions);
  const { checks, failed, settled, problem, end } = watchAvailability(client, log);

  return {
    /** Registers a check that must pass before Redis counts as up. */
    addCheck(run: () => Promise<unknown>) {
      checks.push(run);
    },

    /** Sends a command. @throws the error of Redis, or after 500 ms; Redis is then skipped for a second */
    async send(command: string, ...args: (string | number)[]): Promise<unknown> {
      if (client.status !== 'ready') throw new Error('is not connected');
      try {
        return await inTime(client.call(command, ...args));
      } catch (error) {
        if (!/^NOSCRIPT/.test((error as Error).message)) failed(error); // the store then loads its script again
        throw error;
      }
    },

    /** Resolves once Redis is known to be up or down. */
    settled,

    /** Returns null while Redis is up, otherwise the reason, such as "is full". */
    problem,

    close() {
      end();
      client.disconnect();
    },
  };
}

export type SharedRedis = ReturnType<typeof connectRedis>;
