import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import type { Gateway } from '../support/gateway.ts';
import { startRedis } from '../support/redis.ts';
import { password } from '../support/test.ts';

export const times = <T>(count: number, make: (index: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Counts equal values: `{ 200: 3, 429: 1 }`. */
export const tally = (values: readonly (number | string)[]) =>
  Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));

export const reject = (res: ServerResponse, status = 400, code = 'invalid_credentials') =>
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ code }));

/** Sends requests in one packet. Returns the statuses of the responses. */
export async function inOnePacket(port: number, requests: readonly string[]) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(requests.join(''));
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const statuses = (await text(socket)).match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [];
  return statuses.slice(0, -1).map(Number);
}

/** Signs in to an account. @param from client address, if the gateway trusts a proxy */
export async function signIn(api: Api, email: string, { from = '192.0.2.1', secret = password } = {}) {
  const { status, headers } = await api
    .post('/auth/signin')
    .set('X-Forwarded-For', from)
    .send({ email, password: secret });
  return { status, reason: headers['x-error-reason'], retryAfter: Number(headers['retry-after']) };
}

/** Returns an Auth server that accepts one password, and counts all calls and the rejected ones. */
export function countingAuth() {
  const seen = { total: 0, rejected: 0 };
  const behave: RequestListener = async (req, res) => {
    seen.total++;
    if ((await text(req)).includes(password)) return sendSession(res);
    seen.rejected++;
    return reject(res);
  };
  return { behave, seen };
}

/** Returns an Auth server that holds every call until `release`, and again after `hold`. */
export function holdingAuth() {
  const held: ServerResponse[] = [];
  let answer: ((res: ServerResponse) => unknown) | undefined;
  const behave: RequestListener = async (req, res) => {
    await text(req);
    if (answer) answer(res);
    else held.push(res);
  };
  const release = (released: typeof answer = sendSession) => {
    answer = released;
    for (const res of held.splice(0)) released(res);
  };
  const hold = () => {
    answer = undefined;
  };
  return { held, behave, hold, release };
}

/** Waits until these gateways use Redis. */
export const untilShared = (...gateways: Gateway[]) =>
  expect.poll(() => gateways.every(({ logged }) => logged.join('').includes('Redis is connected'))).toBe(true);

/** Runs a check with two gateways that share a Redis and a Supabase that behaves as given. */
export async function withTwoGateways(
  behave: RequestListener,
  check: (apis: readonly [Api, Api], one: Gateway, redis: Redis) => Promise<void>,
) {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const settings = {
    TRUST_PROXY: '1',
    LOG_LEVEL: 'info',
    REDIS_URL: server.url,
    METRICS_PORT: '0', // because metrics add listeners to each response
    PASSWORD_CALLS_AT_ONCE: '100', // because the queue would reject some of 100 guesses
  };
  const withGateway = (use: Parameters<typeof withSupabase>[1]) => withSupabase(behave, use, settings);
  await withGateway((api, one) =>
    withGateway(async (otherApi, other) => {
      await untilShared(one, other);
      await check([api, otherApi], one, redis);
    }),
  );
  redis.disconnect();
  await server.stop();
}
