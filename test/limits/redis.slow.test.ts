/** @module-tag redis */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { redisStore } from '../../src/limits/store.ts';
import { createTrustedClients } from '../../src/limits/trusted-clients.ts';
import { accountKey } from '../../src/shared/address-keys.ts';
import { connectRedis } from '../../src/shared/redis.ts';
import { type Api, apiAt } from '../support/api.ts';
import { fixture } from '../support/fixture.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { startRedis } from '../support/redis.ts';
import { environment, startServer } from '../support/server-process.ts';
import { test as base, newEmail } from '../support/test.ts';
import { tally, untilShared } from './bursts.ts';

type Server = Awaited<ReturnType<typeof startRedis>>;

const limited = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5', TRUST_PROXY: '1', LOG_LEVEL: 'info' };

const changes = ({ logged }: Gateway): string[] =>
  logged.map((line) => JSON.parse(line).msg).filter((msg) => msg.startsWith('Redis'));

async function readiness({ url }: Gateway) {
  const response = await fetch(new URL('/readyz', url));
  const { checks } = (await response.json()) as { checks: { redis: { ok: boolean; reason?: string } } };
  return checks.redis;
}

let addresses = 0;
/** Returns an address that no other test uses. */
const newAddress = () => `10.9.0.${++addresses}`;

const request = (api: Api, from: string) => api.get('/nope').set('X-Forwarded-For', from);

const remaining = async (api: Api, from: string) => Number((await request(api, from)).headers['x-ratelimit-remaining']);

/** Expects that this gateway alone applies the limit of five requests to a new address. */
async function expectLimitPerProcess(api: Api) {
  const from = newAddress();
  for (const status of [404, 404, 404, 404, 404, 429]) await request(api, from).expect(status);
}

interface Fleet {
  server: Server;
  admin: Redis;
  one: Gateway;
  other: Gateway;
}

/** Test function with two gateways that started before the Redis that they share. */
const test = base.extend<{ $file: { fleet: Fleet } }>({
  fleet: [
    fixture(async (use) => {
      const port = await freePort();
      const REDIS_URL = `redis://127.0.0.1:${port}`;
      const env = { ...limited, REDIS_URL };
      const [one, other] = [await startGateway(env), await startGateway(env)];
      await expectLimitPerProcess(apiAt(one.url));
      expect(changes(one)).toEqual([expect.stringContaining('ECONNREFUSED')]);
      const fleet = { server: await startRedis(port), admin: new Redis(REDIS_URL), one, other };
      fleet.admin.on('error', () => {});
      await untilShared(one, other);
      await use(fleet);
      fleet.admin.disconnect();
      await Promise.all([one.close(), other.close(), fleet.server.stop()]);
    }),
    { scope: 'file' },
  ],
});

type Act = (fleet: Fleet) => unknown;

test.for<[fault: string, breakIt: Act, repair: Act, reason: RegExp]>([
  [
    'frozen',
    ({ server }) => server.signal('SIGSTOP'),
    ({ server }) => server.signal('SIGCONT'),
    /did not reply within 500 ms/,
  ],
  [
    'full',
    ({ admin }) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
    ({ admin }) => admin.config('SET', 'maxmemory', '0'),
    /is full: raise its maxmemory/,
  ],
  [
    'read-only',
    ({ admin }) => admin.replicaof('127.0.0.1', '1'),
    ({ admin }) => admin.call('REPLICAOF', 'NO', 'ONE'),
    /is a read-only replica: use its primary/,
  ],
  [
    'without the rights to scripts',
    ({ admin }) => admin.acl('SETUSER', 'default', '-evalsha'),
    ({ admin }) => admin.acl('SETUSER', 'default', '+evalsha'),
    /denies the user of REDIS_URL/,
  ],
  [
    'down',
    ({ server }) => server.stop(),
    async (fleet) => {
      fleet.server = await startRedis(fleet.server.port);
    },
    /closed the connection/,
  ],
])(
  'each process has separate limits while Redis is %s, and shares them again afterwards',
  async ([, breakIt, repair, reason], { fleet }) => {
    const [one, other] = [apiAt(fleet.one.url), apiAt(fleet.other.url)];
    const before = changes(fleet.one).length;
    const from = newAddress();
    expect([await remaining(one, from), await remaining(other, from)]).toEqual([4, 3]);
    await breakIt(fleet);
    expect([await remaining(one, from), await remaining(other, from)]).toEqual([3, 3]); // includes earlier requests
    await expectLimitPerProcess(one);
    expect(await readiness(fleet.one)).toMatchObject({ ok: false, reason: expect.any(String) });
    await repair(fleet);
    await expect.poll(() => changes(fleet.one)).toHaveLength(before + 2);
    expect(changes(fleet.one)[before]).toMatch(reason);
    await expect.poll(async () => (await readiness(fleet.other)).ok).toBe(true);
    const later = newAddress();
    expect([await remaining(one, later), await remaining(other, later)]).toEqual([4, 3]);
  },
);

test('limits still work after Redis has lost its keys and scripts', async ({ fleet: { admin, one } }) => {
  const before = changes(one).length;
  await admin.flushall();
  await admin.script('FLUSH');
  await expectLimitPerProcess(apiAt(one.url));
  expect(await admin.keys('sounds:rate-limit:requests:*')).toHaveLength(1);
  expect(changes(one)).toHaveLength(before);
});

base('60,000 counters in a Redis with the settings of compose.yaml leave all trusted clients', async () => {
  const { command } = parse(readFileSync('compose.yaml', 'utf8')).services.redis;
  const args = command.slice(command.indexOf('--maxmemory')).with(1, '4mb');
  const server = await startRedis(undefined, { args });
  onTestFinished(server.stop);
  const redis = connectRedis(server.url, pino({ level: 'silent' }));
  onTestFinished(redis.close);
  const counters = redisStore('failedSignIns', 3_600_000, redis);
  const trusted = createTrustedClients(redis);
  await redis.settled;
  const emails = Array.from({ length: 100 }, newEmail);
  for (const email of emails) await trusted.trust(email, '192.0.2.1');
  const admin = new Redis(server.url);
  // Use scripts, because they are faster than a command for each key. Redis evicts keys before each script.
  const script = "for n = ARGV[2], ARGV[2] + 999 do redis.call('SET', ARGV[1] .. n, 1, 'PX', 3600000) end";
  const prefix = `sounds:rate-limit:failedSignIns:ip:192.0.2.1:${accountKey('').slice(5)}`;
  for (let n = 10_000; n < 70_000; n += 1_000) await admin.eval(script, 0, prefix, n);
  expect(await admin.info('stats')).toMatch(/evicted_keys:[1-9]\d{4}/);
  admin.disconnect();
  await counters.decrement('an-evicted-counter');
  expect(await redis.send('EXISTS', 'sounds:rate-limit:failedSignIns:an-evicted-counter')).toBe(0);
  const ofAnotherGateway = createTrustedClients(redis);
  const found = await Promise.all(emails.map((email) => ofAnotherGateway.has(email, '192.0.2.1')));
  expect(tally(found.map(String))).toEqual({ true: 100 });
});

const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `${tmpdir()}/nodes-${process.pid}.conf`];

base.for<[what: string, args: string[], path: string, reason: RegExp]>([
  ['a node of a cluster', cluster, '', /is a node of a cluster: use a single Redis/],
  ['a database that does not exist', [], '/99', /has no database of that number/],
  ['a wrong password', ['--requirepass', 'right'], '', /does not accept the user and password/],
])('Redis is not used if REDIS_URL names %s, and the log has the reason', async ([, args, path, reason]) => {
  const server = await startRedis(undefined, { args });
  onTestFinished(server.stop);
  const REDIS_URL = server.url.replace('//', '//:wrong@') + path;
  const gateway = await startGateway({ ...limited, REDIS_URL });
  onTestFinished(gateway.close);
  await expect.poll(() => changes(gateway)[0]).toMatch(reason);
  await expectLimitPerProcess(apiAt(gateway.url));
  expect((await readiness(gateway)).reason).toMatch(reason);
  expect(gateway.logged.join('')).not.toContain('wrong');
});

/** Creates a self-signed certificate for a name, as options of Redis. */
async function certificate(name: string) {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=redis', '-addext', `subjectAltName=${name}`];
  const ofKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc'.split(' ');
  execFileSync('openssl', ['req', '-x509', ...ofKey, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { files: ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'], cert };
}

base(
  'rediss:// works with TLS and NODE_EXTRA_CA_CERTS, and otherwise the log has the reason',
  { tags: ['openssl'], timeout: 60_000 }, // starts four processes in turn
  async () => {
    const port = await freePort();
    const { files, cert } = await certificate('IP:127.0.0.1');
    const server = await startRedis(undefined, { args: ['--tls-port', String(port), ...files] });
    onTestFinished(server.stop);
    for (const [REDIS_URL, extra, message] of [
      [
        server.url.replace('redis:', 'rediss:'),
        {},
        /does not answer: check the address in REDIS_URL, and write redis:/,
      ],
      [`rediss://127.0.0.1:${port}`, {}, /has a certificate of an unknown authority: set NODE_EXTRA_CA_CERTS/],
      [`rediss://127.0.0.1:${port}`, { NODE_EXTRA_CA_CERTS: cert }, /Redis is connected/],
      [
        `rediss://localhost:${port}`,
        { NODE_EXTRA_CA_CERTS: cert },
        /has a certificate for another name: use that name/,
      ],
    ] as const) {
      const gateway = startServer({ ...environment(), ...extra, REDIS_URL });
      const [line] = await gateway.until(/^.*"msg":"Redis.*$/m);
      expect(line).toMatch(message);
      gateway.child.kill('SIGTERM');
      await gateway.exited;
    }
  },
);

base('the log never contains the password of REDIS_URL, even if the server repeats it', async () => {
  const reply = "-ERR unknown command 'AUTH', with args beginning with: 'default' 'the-wrong-one'\r\n";
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.write(reply));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const REDIS_URL = `redis://:the-wrong-one@127.0.0.1:${port}`;
  const gateway = await startGateway({ ...limited, REDIS_URL, LOG_LEVEL: 'trace' });
  await expect.poll(() => changes(gateway)).toHaveLength(1);
  await apiAt(gateway.url).get('/nope').expect(404);
  await gateway.close();
  server.close();
  expect(gateway.logged.join('')).not.toContain('the-wrong-one');
});
