import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, vi } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password, test } from '../support/test.ts';
import { countingAuth, inOnePacket, reject, signIn, tally, times, withTwoGateways } from './bursts.ts';

const behindProxy = { TRUST_PROXY: '1' };

function attempt(path: 'signin' | 'verify', fields: object, from = '192.0.2.1') {
  const body = JSON.stringify(fields);
  return `POST /api/v1/auth/${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const signInRequest = (email: string, secret: string, from?: string) =>
  attempt('signin', { email, password: secret }, from);

describe('The limit of failed sign-ins', () => {
  test('lets exactly ten of 100 wrong passwords in one packet reach Auth', async () => {
    const { behave, seen } = countingAuth();
    await withSupabase(behave, async (api, { port }) => {
      const email = newEmail();
      const guesses = Array.from({ length: 100 }, (_, n) => signInRequest(email, `guess ${n}`));
      expect(tally(await inOnePacket(port, guesses))).toEqual({ 401: 10, 429: 90 });
      expect(seen.rejected).toBe(10);
      expect(await signIn(api, email)).toMatchObject({ status: 429, reason: 'limit_attempts' });
    });
  });

  test('lets exactly ten of 100 wrong passwords pass two gateways that share a Redis', async () => {
    const { behave, seen } = countingAuth();
    await withTwoGateways(behave, async (apis) => {
      const email = newEmail();
      const guesses = await times(100, (n) => signIn(apis[n % 2 ? 1 : 0], email, { secret: `guess ${n}` }));
      expect(tally(guesses.map(({ status }) => status))).toEqual({ 401: 10, 429: 90 });
      expect(seen.rejected).toBe(10);
    });
  });

  test('causes no warning of Node, together with all other limits of a sign-in', async () => {
    const warnings: string[] = [];
    const record = ({ message }: Error) => warnings.push(message);
    process.on('warning', record);
    await withTwoGateways(countingAuth().behave, async ([api]) => {
      expect((await signIn(api, newEmail())).status).toBe(200);
    });
    process.off('warning', record);
    expect(warnings).toEqual([]);
  });

  test('does not count successful sign-ins, nor failures and limits of Auth', async () => {
    let failure: number | undefined;
    const behave: RequestListener = (_req, res) =>
      failure ? reject(res, failure, 'over_request_rate_limit') : sendSession(res);
    await withSupabase(behave, async (api) => {
      const email = newEmail();
      for (const [status, expected] of [
        [undefined, 200],
        [502, 500],
        [429, 429],
      ] as const) {
        failure = status;
        for (let count = 0; count < 11; count++) expect((await signIn(api, email)).status).toBe(expected);
      }
      failure = undefined;
      expect((await signIn(api, email)).status).toBe(200);
    });
  });

  test('counts an attempt whose client disconnected before the response', async () => {
    const waiting: ServerResponse[] = [];
    await withSupabase(
      (_req, res) => waiting.push(res),
      async (api, { url }) => {
        const email = newEmail();
        const leaving = new AbortController();
        const init = {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          signal: leaving.signal,
        };
        const gone = times(10, () =>
          fetch(`${url}/auth/signin`, { ...init, body: JSON.stringify({ email, password }) }).catch(
            () => 'gone',
          ),
        );
        await expect.poll(() => waiting.length).toBe(8);
        leaving.abort();
        await gone;
        expect((await signIn(api, email)).status).toBe(429);
        for (const res of waiting) res.destroy();
      },
    );
  });

  test('allows 30 an hour for one account and client, while other clients sign in', async () => {
    const { behave } = countingAuth();
    vi.useFakeTimers({ toFake: ['Date'] });
    await withSupabase(
      behave,
      async (api) => {
        const email = newEmail();
        const guesses: number[] = [];
        for (let minute = 0; minute < 4; minute++) {
          const tried = await times(10, () => signIn(api, email, { secret: 'a guess' }));
          guesses.push(...tried.map(({ status }) => status));
          vi.setSystemTime(Date.now() + 61_000);
        }
        expect(tally(guesses)).toEqual({ 401: 30, 429: 10 });
        expect((await signIn(api, email, { from: '10.0.0.1' })).status).toBe(200);
      },
      behindProxy,
    ).finally(() => vi.useRealTimers());
  });
});

describe('Trusted clients', () => {
  test('let the owner sign in after 250 wrong passwords from 100 addresses', async () => {
    const { behave } = countingAuth();
    await withSupabase(
      behave,
      async (api) => {
        const email = newEmail();
        expect(await signIn(api, email, { from: '2001:db8:1:100::1' })).toMatchObject({ status: 200 });
        for (let round = 0; round < 5; round++)
          await times(50, (n) =>
            signIn(api, email, { from: `10.${(round * 50 + n) % 100}.0.1`, secret: `guess ${round}` }),
          );
        expect(await signIn(api, email, { from: '2001:db8:1:1ff::2' })).toMatchObject({ status: 200 });
        expect(await signIn(api, email, { from: '10.200.0.1' })).toMatchObject({
          status: 429,
          reason: 'limit_attempts',
        });
      },
      behindProxy,
    );
  });
});

describe('The limit per client', () => {
  test.for([
    ['signin', { password: 'guess' }],
    ['verify', { type: 'recovery', code: '12345678' }],
  ] as const)('stops POST /auth/%s at made-up addresses of one IPv6 /56 after 100', async ([path, guess]) => {
    const { behave, seen } = countingAuth();
    await withTwoGateways(behave, async ([api], [gateway], redis) => {
      const from = (n: number) => `2001:db8:1:1${(n % 256).toString(16).padStart(2, '0')}::1`;
      const guesses = (socket: number) =>
        Array.from({ length: 100 }, (_, n) =>
          attempt(path, { email: `${socket}-${n}@example.com`, ...guess }, from(n)),
        );
      const statuses = await times(20, (socket) => inOnePacket(gateway.port, guesses(socket)));
      expect(tally(statuses.flat())[429]).toBeGreaterThanOrEqual(1_900);
      expect(seen.total).toBeLessThanOrEqual(100);
      // At most three for each attempt, the client's, and one for each of the 256 addresses of the request limit.
      expect(await redis.dbsize()).toBeLessThanOrEqual(3 * 100 + 1 + 256);
      expect(await signIn(api, newEmail(), { from: '2001:db8:1:200::1' })).toMatchObject({ status: 200 });
    });
  });
});

describe('The limit of sign-ups and mails', () => {
  const accept: RequestListener = async (req, res) => {
    await text(req);
    if (req.url?.includes('/signup')) sendSession(res);
    else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  };

  test('counts all networks of one IPv6 /56 together', async () => {
    await withSupabase(
      accept,
      async (api) => {
        const send = async (path: string, network: number) =>
          (
            await api
              .post(path)
              .set('X-Forwarded-For', `2001:db8:1:1${network.toString(16).padStart(2, '0')}::1`)
              .send({ email: newEmail(), password })
          ).status;
        for (const network of [1, 2, 3]) expect(await send('/auth/signup', network)).toBe(200);
        expect(await send('/auth/signup', 4)).toBe(429);
        expect(tally(await times(31, (network) => send('/auth/recover', network)))).toEqual({
          200: 30,
          429: 1,
        });
      },
      { ...behindProxy, SIGN_UP_LIMIT_PER_HOUR: '3' },
    );
  });

  test('does not count a sign-up that sends no mail as a mail', async () => {
    await withSupabase(accept, async (api) => {
      const email = newEmail();
      const recover = () => api.post('/auth/recover').send({ email });
      await api.post('/auth/signup').send({ email, password }).expect(200);
      for (let mail = 0; mail < 5; mail++) await recover().expect(200);
      await recover().expect(429).expect('X-Error-Reason', 'limit_mails');
    });
  });
});
