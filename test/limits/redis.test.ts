import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished } from 'vitest';
import { type Api, apiAt } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { startRedis } from '../support/redis.ts';
import { newEmail, test } from '../support/test.ts';
import { countingAuth, signIn, tally, times, untilShared } from './bursts.ts';

type Server = Awaited<ReturnType<typeof startRedis>>;

const logOf = ({ logged }: Gateway) => logged.map((line) => JSON.parse(line) as { msg: string });
const changes = (gateway: Gateway) =>
  logOf(gateway)
    .filter(({ msg }) => msg.startsWith('Redis'))
    .map(({ msg }) => msg);

async function start(env: Record<string, string>): Promise<{ gateway: Gateway; api: Api }> {
  const gateway = await startGateway({
    LOG_LEVEL: 'info',
    ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5',
    TRUST_PROXY: '1',
    ...env,
  });
  onTestFinished(gateway.close);
  return { gateway, api: apiAt(gateway.url) };
}

async function readiness({ url }: Gateway) {
  const response = await fetch(new URL('/readyz', url));
  const { checks } = (await response.json()) as { checks: { redis: { ok: boolean; reason?: string } } };
  return checks.redis;
}

let addresses = 0;

/** Uses up the limit of an address that no other test uses. Every response must arrive within two seconds. */
async function expectLimitPerProcess(api: Api) {
  const from = `10.9.${Math.floor(++addresses / 250)}.${addresses % 250}`;
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++) {
    const started = performance.now();
    statuses.push((await api.get('/nope').set('X-Forwarded-For', from)).status);
    expect(performance.now() - started).toBeLessThan(2_000);
  }
  expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
}

/** Checks that two gateways share their counts. */
async function expectShared(one: Api, other: Api) {
  const from = `10.10.0.${++addresses}`;
  const remaining = async (api: Api) =>
    Number((await api.get('/nope').set('X-Forwarded-For', from)).headers['x-ratelimit-remaining']);
  expect([await remaining(one), await remaining(other)]).toEqual([4, 3]);
}

/** Faults of Redis: name, break, repair, and the reason in the log. */
const faults: [
  string,
  (admin: Redis, server: Server) => unknown,
  (admin: Redis, server: Server) => unknown,
  RegExp,
][] = [
  [
    'frozen',
    (_admin, server) => server.signal('SIGSTOP'),
    (_admin, server) => server.signal('SIGCONT'),
    /did not reply within 500 ms/,
  ],
  [
    'full',
    (admin) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
    (admin) => admin.config('SET', 'maxmemory', '0'),
    /is full: raise its maxmemory/,
  ],
  [
    'read-only',
    (admin) => admin.replicaof('127.0.0.1', '1'),
    (admin) => admin.call('REPLICAOF', 'NO', 'ONE'),
    /is a read-only replica: use its primary/,
  ],
  [
    'without the rights to our keys',
    (admin) => admin.acl('SETUSER', 'default', 'resetkeys', '~other:*'),
    (admin) => admin.acl('SETUSER', 'default', 'allkeys'),
    /denies the user of REDIS_URL/,
  ],
  [
    'without the rights to scripts',
    (admin) => admin.acl('SETUSER', 'default', '-evalsha'),
    (admin) => admin.acl('SETUSER', 'default', '+evalsha'),
    /denies the user of REDIS_URL/,
  ],
];

describe('A Redis that cannot serve', () => {
  test.for(faults)(
    'leads to limits per process while it is %s, and shares limits again afterwards',
    async ([, breakIt, repair, reason]) => {
      const server = await startRedis();
      onTestFinished(server.stop);
      const admin = new Redis(server.url);
      onTestFinished(() => admin.disconnect());
      const [one, other] = await Promise.all([1, 2].map(() => start({ REDIS_URL: server.url })));
      if (!one || !other) throw new Error('two gateways');
      await untilShared(one.gateway, other.gateway);
      await expectShared(one.api, other.api);
      await breakIt(admin, server);
      await expectLimitPerProcess(one.api);
      expect(await readiness(one.gateway)).toMatchObject({
        ok: false,
        reason: expect.stringMatching(reason),
      });
      await repair(admin, server);
      await expectLimitPerProcess(other.api);
      await expect.poll(() => changes(one.gateway)).toHaveLength(3);
      expect(changes(one.gateway)[1]).toMatch(reason);
      await expect.poll(async () => (await readiness(other.gateway)).ok).toBe(true);
      await expectShared(one.api, other.api);
    },
  );

  test('leads to limits per process while it is down, also at the start', async () => {
    const port = await freePort();
    const { gateway, api } = await start({ REDIS_URL: `redis://127.0.0.1:${port}` });
    await expectLimitPerProcess(api);
    expect(changes(gateway)).toEqual([expect.stringContaining('ECONNREFUSED')]);
    const server = await startRedis(port);
    await untilShared(gateway);
    await server.stop();
    await expectLimitPerProcess(api);
    const again = await startRedis(port);
    onTestFinished(again.stop);
    const second = await start({ REDIS_URL: again.url });
    await expect.poll(() => changes(gateway)).toHaveLength(4);
    await untilShared(second.gateway);
    await expectShared(api, second.api);
  });

  test('goes on counting after it was flushed, scripts included', async () => {
    const server = await startRedis();
    onTestFinished(server.stop);
    const { gateway, api } = await start({ REDIS_URL: server.url });
    await untilShared(gateway);
    const admin = new Redis(server.url);
    await admin.flushall();
    await admin.script('FLUSH');
    await expectLimitPerProcess(api);
    expect(await admin.keys('sounds:rate-limit:requests:*')).toHaveLength(1);
    expect(changes(gateway)).toHaveLength(1);
    admin.disconnect();
  });

  test.for([
    [
      'a node of a cluster',
      [
        '--cluster-enabled',
        'yes',
        '--cluster-config-file',
        `${tmpdir()}/sounds-test-nodes-${process.pid}.conf`,
      ],
      '',
      /is a node of a cluster: use a single Redis/,
    ],
    ['a database that does not exist', [], '/99', /has no database of that number/],
    ['a wrong password', ['--requirepass', 'right'], '', /does not accept the user and password/],
  ] as const)(
    'stays unused if REDIS_URL names %s, and the log has the reason',
    async ([, args, path, reason]) => {
      const server = await startRedis(undefined, { args: [...args] });
      onTestFinished(server.stop);
      const { gateway, api } = await start({ REDIS_URL: server.url.replace('//', '//:wrong@') + path });
      await expect.poll(() => changes(gateway)[0]).toMatch(reason);
      await expectLimitPerProcess(api);
      expect((await readiness(gateway)).reason).toMatch(reason);
      expect(gateway.logged.join('')).not.toContain('wrong');
    },
  );

  test('does not reach the log with the password that an unknown server repeats', async () => {
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', () => {
          socket.write(
            "-ERR unknown command 'AUTH', with args beginning with: 'default' 'the-wrong-one'\r\n",
          );
        });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { gateway, api } = await start({
      REDIS_URL: `redis://:the-wrong-one@127.0.0.1:${port}`,
      LOG_LEVEL: 'trace',
    });
    await expect.poll(() => changes(gateway)).toHaveLength(1);
    await api.get('/nope').expect(404);
    server.close();
    expect(gateway.logged.join('')).not.toContain('the-wrong-one');
  });
});

/** Starts a proxy in front of Redis that delays every second reply by 0.2 to 1.5 s. */
async function startSlowProxy(target: number) {
  let replies = 0;
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    sockets.push(client, upstream);
    client.pipe(upstream).on('error', () => {});
    let sent = Promise.resolve();
    upstream
      .on('error', () => {})
      .on('data', (chunk) => {
        const delayMs = replies++ % 2 ? 200 + ((replies * 373) % 1_300) : 0;
        sent = sent.then(
          () => new Promise((resolve) => setTimeout(() => resolve(void client.write(chunk)), delayMs)),
        );
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('Two gateways let at most twice the limit pass while Redis is slow', async () => {
  const server = await startRedis();
  onTestFinished(server.stop);
  const slow = await startSlowProxy(server.port);
  const env = { REDIS_URL: `redis://127.0.0.1:${slow}`, TRUST_PROXY: '1' };
  const email = newEmail();
  const auths = [countingAuth(), countingAuth()];
  const bursts = auths.map(({ behave }) =>
    withSupabase(
      behave,
      async (api) => {
        for (let round = 0; round < 3; round++) {
          const answers = await times(10, (n) => signIn(api, email, { secret: `guess ${round} ${n}` }));
          expect(Object.keys(tally(answers.map(({ status }) => status)))).not.toContain('500');
        }
      },
      env,
    ),
  );
  await Promise.all(bursts);
  const passed = auths.reduce((sum, { seen }) => sum + seen.rejected, 0);
  expect(passed).toBeGreaterThanOrEqual(10);
  expect(passed).toBeLessThanOrEqual(20);
});
