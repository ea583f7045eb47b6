import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password, test } from '../support/test.ts';
import { countingAuth, holdingAuth, inOnePacket, reject, signIn, tally, times, withTwoGateways } from './bursts.ts';

const behindProxy = { TRUST_PROXY: '1' };

/** Returns a client address in one of the 256 networks of an IPv6 /56. */
const inNetwork = (network: number) => `2001:db8:1:1${network.toString(16).padStart(2, '0')}::1`;

/** Returns the text of a request. Requests in one packet take a quarter of the processor time of supertest's. */
function attempt(path: string, fields: object, from = '192.0.2.1') {
  const body = JSON.stringify(fields);
  return `POST /api/v1/auth/${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

test('two gateways with one Redis pass exactly ten of 100 wrong passwords, without a warning', {
  tags: ['redis'],
}, async () => {
  const warnings: string[] = [];
  const record = ({ message }: Error) => warnings.push(message);
  process.on('warning', record);
  const { behave, seen } = countingAuth();
  await withTwoGateways(behave, async (apis) => {
    const email = newEmail();
    const guesses = await times(100, (n) => signIn(apis[n % 2 ? 1 : 0], email, { secret: `guess ${n}` }));
    expect(tally(guesses.map(({ status }) => status))).toEqual({ 401: 10, 429: 90 });
    expect(seen.rejected).toBe(10);
    expect(await signIn(apis[0], newEmail(), { from: '198.51.100.1' })).toMatchObject({ status: 200 });
  });
  process.off('warning', record);
  expect(warnings).toEqual([]);
});

test('errors and limits of Auth do not count as wrong passwords', async () => {
  let answer: (res: ServerResponse) => unknown = sendSession;
  await withSupabase(
    (_req, res) => answer(res),
    async (_api, { port }) => {
      const one = attempt('signin', { email: newEmail(), password });
      for (const [status, expected] of Object.entries({ 500: 500, 502: 500, 429: 429 })) {
        answer = (res) => reject(res, Number(status), 'over_request_rate_limit');
        // Sends only two at once, because attempts count as wrong until their results are known.
        for (let round = 0; round < 6; round++)
          expect(tally(await inOnePacket(port, Array(2).fill(one)))).toEqual({ [expected]: 2 });
      }
      answer = sendSession;
      expect(await inOnePacket(port, [one])).toEqual([200]);
    },
  );
});

test.for([
  ['signin', { password: 'guess' }],
  ['verify', { type: 'recovery', code: '12345678' }],
] as const)('POST /auth/%s lets neighbours in while one device repeats one wrong attempt', async ([path, guess]) => {
  await withSupabase(countingAuth().behave, async (api, { port }) => {
    const [trusted, device] = [newEmail(), newEmail()];
    expect(await signIn(api, trusted)).toMatchObject({ status: 200 });
    const tried = await inOnePacket(port, Array(100).fill(attempt(path, { email: device, ...guess })));
    expect(tally(tried)).toEqual({ 401: 10, 429: 90 });
    for (const email of [trusted, newEmail()]) expect(await signIn(api, email)).toMatchObject({ status: 200 });
  });
});

test('80 people at one address are signed in after waiting for Retry-After at most four times', async () => {
  const { held, behave, hold, release } = holdingAuth();
  await withSupabase(
    behave,
    async (api, { arrived }) => {
      let waiting = Array.from({ length: 80 }, newEmail);
      let sent = 0;
      for (let round = 0; round <= 4; round++) {
        hold();
        const signIns = Promise.all(waiting.map((email) => signIn(api, email)));
        sent += waiting.length;
        await expect.poll(() => [arrived(), held.length]).toEqual([sent, 8]);
        release();
        const answers = await signIns;
        const rejected = answers.filter(({ status }) => status === 429);
        expect(rejected.filter(({ retryAfter }) => retryAfter !== 3)).toEqual([]);
        waiting = waiting.filter((_email, index) => answers[index]?.status === 429);
      }
      expect(waiting).toEqual([]);
    },
    behindProxy,
  );
});

test('30 sign-ins an hour may fail for one account and client, without effect on other clients', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const check: Parameters<typeof withSupabase>[1] = async (api, { port }) => {
    const email = newEmail();
    const guesses: number[] = [];
    for (let minute = 0; minute < 4; minute++) {
      guesses.push(...(await inOnePacket(port, Array(10).fill(attempt('signin', { email, password: 'a guess' })))));
      vi.setSystemTime(Date.now() + 61_000);
    }
    expect(tally(guesses)).toEqual({ 401: 30, 429: 10 });
    expect((await signIn(api, email, { from: '10.0.0.1' })).status).toBe(200);
  };
  await withSupabase(countingAuth().behave, check, behindProxy).finally(() => vi.useRealTimers());
});

test('the owner of an account can sign in after 250 wrong passwords from 100 addresses', async () => {
  await withSupabase(
    countingAuth().behave,
    async (api, { port }) => {
      const email = newEmail();
      expect(await signIn(api, email, { from: '2001:db8:1:100::1' })).toMatchObject({ status: 200 });
      const guess = (n: number) => attempt('signin', { email, password: `guess ${n}` }, `10.${n % 100}.0.1`);
      for (let n = 0; n < 250; n += 50)
        await inOnePacket(
          port,
          Array.from({ length: 50 }, (_, each) => guess(n + each)),
        );
      expect(await signIn(api, email, { from: '2001:db8:1:1ff::2' })).toMatchObject({ status: 200 });
      const untrusted = await signIn(api, email, { from: '10.200.0.1' });
      expect(untrusted).toMatchObject({ status: 429, reason: 'limit_attempts' });
    },
    behindProxy,
  );
});

test.for([
  ['signin', { password: 'guess' }],
  ['verify', { type: 'recovery', code: '12345678' }],
] as const)(
  'POST /auth/%s with unknown addresses is limited to 100 for one IPv6 /56',
  {
    tags: ['redis'],
  },
  async ([path, guess]) => {
    const { behave, seen } = countingAuth();
    await withTwoGateways(behave, async ([api], gateway, redis) => {
      const guesses = (socket: number) =>
        Array.from({ length: 100 }, (_, n) =>
          attempt(path, { email: `${socket}-${n}@example.com`, ...guess }, inNetwork(n)),
        );
      const statuses = await times(2, (socket) => inOnePacket(gateway.port, guesses(socket)));
      expect(tally(statuses.flat())[429]).toBeGreaterThanOrEqual(100);
      expect(seen.total).toBeLessThanOrEqual(100);
      // Redis has at most four keys for each attempt, one for the client, and one for each of 100 addresses.
      expect(await redis.dbsize()).toBeLessThanOrEqual(4 * 100 + 1 + 100);
      expect(await signIn(api, newEmail(), { from: '2001:db8:1:200::1' })).toMatchObject({ status: 200 });
      const [trusted = ''] = await redis.keys('sounds:trusted-client:*');
      expect(await redis.ttl(trusted)).toBeGreaterThan(29 * 24 * 3_600);
    });
  },
);

test('100 wrong passwords of one client stop neighbours for ten minutes, but not trusted clients', async () => {
  await withSupabase(
    countingAuth().behave,
    async (api, { port }) => {
      const trusted = newEmail();
      expect(await signIn(api, trusted)).toMatchObject({ status: 200 });
      for (let round = 0; round < 10; round++) {
        const guesses = Array.from({ length: 10 }, () => attempt('signin', { email: newEmail(), password: 'guess' }));
        expect(tally(await inOnePacket(port, guesses))).toEqual({ 401: 10 });
      }
      const stopped = await signIn(api, newEmail());
      expect(stopped).toMatchObject({ status: 429, reason: 'limit_attempts' });
      expect(stopped.retryAfter).toBeGreaterThan(500);
      expect(stopped.retryAfter).toBeLessThanOrEqual(600);
      expect(await signIn(api, trusted)).toMatchObject({ status: 200 });
    },
    { ...behindProxy, PASSWORD_CALLS_AT_ONCE: '20' },
  );
});

test('the limits of sign-ups and mails apply to all networks of one IPv6 /56 together', async () => {
  let isBusy = true;
  const accept: RequestListener = async (req, res) => {
    await text(req);
    if (isBusy) reject(res, 429, 'over_request_rate_limit');
    else sendSession(res);
  };
  await withSupabase(
    accept,
    async (api) => {
      const send = async (path: string, network: number) => {
        const sent = api.post(path).set('X-Forwarded-For', inNetwork(network));
        return (await sent.send({ email: newEmail(), password })).status;
      };
      expect(await send('/auth/signup', 0)).toBe(429); // does not count, because Auth rejected it
      isBusy = false;
      const signUps = await times(3, (network) => send('/auth/signup', network));
      expect(tally(signUps)).toEqual({ 200: 2, 429: 1 });
      const mails = await times(31, (network) => send('/auth/recover', network));
      expect(tally(mails)).toEqual({ 200: 30, 429: 1 });
      expect(await send('/auth/recover', 256)).toBe(200); // of another client
    },
    { ...behindProxy, SIGN_UP_LIMIT_PER_HOUR: '2' },
  );
});
