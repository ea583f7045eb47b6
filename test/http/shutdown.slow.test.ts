import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect } from 'vitest';
import { addSound } from '../support/catalogue.ts';
import { environment, startListening } from '../support/server-process.ts';
import { test } from '../support/test.ts';

/** Pause of each client between requests, so that other tests can run. */
const pauseMs = 20;

test('no request is lost or counted twice when a gateway stops under keep-alive load', async ({
  gateway,
  sql,
  user,
}) => {
  const sound = await addSound(sql);
  const ending = await startListening(environment());
  const origins = [ending.origin, new URL(gateway.url).origin];
  // Clients close idle connections first, as load balancers do: the gateway ends them after two seconds of its shutdown.
  const agent = new Agent({ connections: 8, keepAliveTimeout: 500 });
  const counted = { on: true, plays: 0, failures: [] as unknown[] };

  // Send a request that found no listener to the next gateway, as load balancers do.
  async function play(turn: number): Promise<void> {
    try {
      const { statusCode, body } = await request(`${origins[turn % 2]}/api/v1/sounds/${sound}/play`, {
        dispatcher: agent,
        method: 'POST',
        headers: { Authorization: `Bearer ${user.access_token}` },
      });
      const answer = await body.text();
      if (statusCode === 200) counted.plays++;
      else counted.failures.push(answer);
    } catch (error) {
      if ((error as { code?: string }).code === 'ECONNREFUSED') await play(turn + 1);
      else counted.failures.push(error);
    }
  }
  // Open all connections first, so that the first gateway has some when it ends.
  await Promise.all(Array.from({ length: 16 }, (_, turn) => play(turn)));
  const clients = Array.from({ length: 8 }, async (_, index) => {
    for (let turn = index; counted.on; turn++) {
      await play(turn);
      await sleep(pauseMs);
    }
  });

  const enough = async () => {
    const before = counted.plays;
    await expect.poll(() => counted.plays).toBeGreaterThan(before + 16);
  };
  await enough();
  ending.child.kill('SIGTERM');
  expect(await ending.exited).toEqual([0, null]);
  await enough();
  counted.on = false;
  await Promise.all(clients);

  const log = ending.output.stdout + gateway.logged.join('');
  expect([...counted.failures, ...(log.match(/^.*"level":[56]0.*$/gm) ?? [])]).toEqual([]);
  expect(ending.output.stderr).toBe('');
  expect(ending.output.stdout).not.toContain('Serving metrics');
  expect(await sql`select plays::int from public.play_counts where sound_id = ${sound}`).toEqual([
    { plays: counted.plays },
  ]);
  await agent.close();
});

test('SIGTERM makes /readyz 503, closes connections, and aborts requests after the grace period', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const SUPABASE_URL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const env = { ...environment(), SUPABASE_URL, SHUTDOWN_GRACE_SECONDS: '3' };
  let calls = 0;
  silent.on('connection', () => calls++);
  const { child, exited, origin, output, until } = await startListening(env);
  await expect.poll(() => calls).toBe(3); // the checks at the start
  const failing = fetch(`${origin}/api/v1/config`); // takes two seconds, because Auth does not answer
  const answer = fetch(`${origin}/api/v1/auth/refresh`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: 'abcdefghijkl' }),
  }).catch(() => 'cut off');
  await expect.poll(() => calls).toBe(6); // the configuration asks Auth and the data API
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');

  child.kill('SIGTERM');
  await until(/"phase":"drain"/);
  socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 503 .*\r\nConnection: close\r\n.*"status":"shutting down"/s);
  await until(/"phase":"answer"/);
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow();
  expect((await failing).headers.get('connection')).toBe('close');
  expect(await answer).toBe('cut off');
  expect(await exited).toEqual([1, null]);
  expect(output.stdout).toContain('SHUTDOWN_GRACE_SECONDS');
  const phases = ['drain', 'answer', 'disconnect'];
  expect([...output.stdout.matchAll(/"phase":"(.*?)"/g)].map(([, phase]) => phase)).toEqual(phases);
  silent.close();
});

test('a second signal ends with exit code 1 if the shutdown has cut requests before', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const SUPABASE_URL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const env = { ...environment(), SUPABASE_URL, SHUTDOWN_GRACE_SECONDS: '1' };
  let calls = 0;
  silent.on('connection', () => calls++);
  const { child, exited, origin, until } = await startListening(env);
  await expect.poll(() => calls).toBe(3); // the checks at the start
  // Sends many requests, so that the signal arrives before the gateway has ended them all.
  const agent = new Agent();
  const requests = Array.from({ length: 200 }, () =>
    request(`${origin}/api/v1/categories`, { dispatcher: agent }).catch(() => 'cut off'),
  );
  await expect.poll(() => calls).toBeGreaterThan(3);
  child.kill('SIGTERM');
  await until(/"phase":"disconnect"/);
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  await Promise.all(requests);
  await agent.close();
  silent.close();
});

test('new connections are answered during DRAIN_SECONDS, which a second signal ends', async () => {
  const { child, exited, origin, until } = await startListening({ ...environment(), DRAIN_SECONDS: '60' });
  for (const _ of [1, 2]) child.kill('SIGINT'); // npm forwards the signal, so it arrives twice
  await until(/"phase":"drain"/);
  for (const [path, status] of [
    ['/readyz', 503],
    ['/api/v1/categories', 200],
    ['/api/v1/nope', 404],
  ] as const) {
    const answer = await fetch(origin + path);
    expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
  }
  await expect.poll(() => (child.kill('SIGINT') ? null : child.exitCode)).toBe(0);
  await exited;
});

test('the drain answers connections that wait at its end, and ends half-sent requests', async () => {
  const { child, exited, origin, until } = await startListening({
    ...environment(),
    DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '600',
  });
  const port = Number(new URL(origin).port);
  const halfSent = [
    'GET /healthz HTTP/1.1\r\nHo',
    'POST /api/v1/auth/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  ];
  let received = '';
  for (const bytes of halfSent) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.on('data', (data) => {
      received += data;
    });
    await once(socket, 'connect');
    socket.write(bytes);
  }
  const slow = connect(port, '127.0.0.1');
  slow.write(
    'POST /api/v1/auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n',
  );
  await fetch(`${origin}/healthz`); // the gateway has read what was sent before
  child.kill('SIGSTOP'); // so that the connections wait in the kernel
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const waiting = sockets.map(async (socket) => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    return (await text(socket)).slice(0, 12);
  });
  child.kill('SIGTERM');
  child.kill('SIGCONT');
  await until(/"phase":"answer"/);
  for (const character of '{"a": "b"}') {
    slow.write(character);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(await text(slow)).toMatch(/^HTTP\/1.1 400 .*Connection: close/s);
  expect(await Promise.all(waiting)).toEqual(Array(20).fill('HTTP/1.1 200'));
  expect(await exited).toEqual([0, null]);
  expect(received).not.toContain(' 408 '); // the drain ends them before the time limit of requests does
});
