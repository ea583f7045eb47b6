import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import PQueue from 'p-queue';
import type { SharedRedis } from '../redis.ts';
import { requestContext } from '../request-context.ts';
import { clientKey, type KnownClients, networkKey } from './known-clients.ts';
import { createQueue, createQueues, Turn } from './queues.ts';

/** The permits of a gateway that died are free again after this, in milliseconds. A living one renews its own this often. */
const leaseMs = 5_000;
const renewalMs = 1_000;

/** Longer than the circuit breaker takes to find out that Redis is down, in milliseconds: a late answer is waited for. */
const redisTimeoutMs = 1_500;

const permitsKey = 'sounds:password-calls';

/** Takes a permit, or renews it, by the clock of Redis. Returns 0, or in how many milliseconds the next permit expires. */
const takePermit = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)
  local isHeld = redis.call('ZSCORE', KEYS[1], ARGV[3])
  if not isHeld and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
    return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] - now
  end
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0`;

/** Permits that all gateways share. While Redis is down each has all of them, which the queue in front keeps to. */
function createPermits(permits: number, redis: SharedRedis) {
  const releases = new EventEmitter().setMaxListeners(0);
  let released = 0;
  redis.subscribe(permitsKey, () => {
    released++;
    releases.emit('release');
  });

  const take = (id: string, limit: number) =>
    redis.run<unknown>(
      (client) => client.eval(takePermit, 1, permitsKey, limit, leaseMs, id),
      () => 0,
      redisTimeoutMs,
    );

  async function acquire(id: string, { signal }: Turn) {
    for (;;) {
      const releasedBefore = released;
      const expiresInMs = Number(await take(id, permits));
      signal.throwIfAborted();
      if (expiresInMs === 0) return;
      if (released !== releasedBefore) continue; // while Redis was asked
      const wake = AbortSignal.any([signal, AbortSignal.timeout(expiresInMs)]);
      await once(releases, 'release', { signal: wake }).catch(() => signal.throwIfAborted());
    }
  }

  const release = (id: string) =>
    redis.run(
      (client) => Promise.all([client.zrem(permitsKey, id), client.publish(permitsKey, id)]),
      () => [],
    );

  const asking = new PQueue({ concurrency: 1 }); // in order: who comes first is the next to ask
  return async <T>(turn: Turn, call: () => Promise<T>): Promise<T> => {
    const id = randomUUID();
    let renewal: NodeJS.Timeout | undefined;
    try {
      await asking.add(() => acquire(id, turn), { signal: turn.signal });
      renewal = setInterval(() => void take(id, Number.MAX_SAFE_INTEGER), renewalMs);
      return await call();
    } finally {
      clearInterval(renewal);
      void release(id);
    }
  };
}

/**
 * The queue of calls that hash a password at Auth, which serves few at a time and gives up after 10 s. No account, client or
 * network has more than a quarter of the permits, so that nobody keeps others waiting: whoever has its share in flight does not
 * stand in the line of all, but in its own.
 * @param permits how many calls may be in flight in this process, and with Redis in all processes together
 */
export function createPasswordQueue(
  permits: number,
  redis: SharedRedis | null = null,
  known: KnownClients | null = null,
) {
  const quarter = Math.ceil(permits / 4);
  const ofAccount = createQueues(quarter);
  const ofClient = createQueues(quarter);
  const ofNetwork = createQueues(quarter);
  const ofAll = createQueue(permits);
  const withPermit = redis && createPermits(permits, redis);

  /**
   * Makes a call when it has a permit.
   * @param account an e-mail address, or an id
   * @param leavesWithClient whether the call need not be made once its client has gone: nobody else waits for it
   * @throws ApiError rate_limited as soon as it shows that the call would not start in time
   */
  return async <T>(
    { ip, account, leavesWithClient }: { ip: string; account: string; leavesWithClient?: true },
    call: () => Promise<T>,
  ): Promise<T> => {
    const client = clientKey(ip);
    // Those who guess from elsewhere do not stand before its owner.
    const accountShare = (await known?.has(account, ip)) ? `${account} ${client}` : account;
    const turn = new Turn();
    if (leavesWithClient) requestContext.getStore()?.onceClosed(() => turn.leave());
    const start = () => {
      turn.start();
      return call();
    };
    return ofAccount(accountShare, turn, () =>
      ofClient(client, turn, () =>
        ofNetwork(networkKey(ip), turn, () =>
          ofAll(turn, () => (withPermit ? withPermit(turn, start) : start())),
        ),
      ),
    );
  };
}

export type PasswordQueue = ReturnType<typeof createPasswordQueue>;
