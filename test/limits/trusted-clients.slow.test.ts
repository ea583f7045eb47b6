import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTrustedClients } from '../../src/limits/trusted-clients.ts';
import { verify } from '../routes/mailed-codes.ts';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { countingAuth, holdingAuth, reject, signIn, tally, times, withTwoGateways } from './bursts.ts';

const env = { TRUST_PROXY: '1', PASSWORD_CALLS_AT_ONCE: '100' };

/** Returns an Auth that accepts one password, counts calls and rejections, and holds calls from `hold` to `release`. */
function gatedAuth() {
  const { behave, seen } = countingAuth();
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const calls = { asked: 0 };
  const gated: RequestListener = async (req, res) => {
    calls.asked++;
    await gate.promise;
    behave(req, res);
  };
  const hold = () => {
    gate = Promise.withResolvers<void>();
  };
  return { behave: gated, calls, seen, hold, release: () => gate.resolve() };
}

/** Fills the limit of wrong passwords of one client with made-up accounts. */
async function fillLimitOf(api: Api, from: string) {
  const guesses = await times(100, () => signIn(api, newEmail(), { from, secret: 'a guess' }));
  expect(tally(guesses.map(({ status }) => status))).toEqual({ 401: 100 });
}

test('beyond a limit of its address, only the right password shows trust in a client', async () => {
  const { behave, seen } = countingAuth();
  await withSupabase(
    behave,
    async (api) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      await fillLimitOf(api, office);
      const before = seen.rejected;
      const guess = async (email: string) => {
        const began = performance.now();
        const { status, reason, retryAfter } = await signIn(api, email, { from: office, secret: 'a guess' });
        expect(performance.now() - began).toBeGreaterThanOrEqual(499);
        return { status, reason, isLong: retryAfter > 300 };
      };
      const answers = [await guess(newEmail())];
      // Sends only ten at once, because attempts count as wrong until their results are known.
      for (const count of [10, 10, 10, 1]) answers.push(...(await times(count, () => guess(colleague))));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 429, reason: 'limit_attempts' });
      expect(seen.rejected - before).toBe(30); // the attempts at the colleague's account are bounded
      expect(await signIn(api, newEmail(), { from: office })).toMatchObject({ status: 429 });
    },
    env,
  );
});

test('a trusted client has the same share of the password queue as others', async () => {
  const { behave, hold, release } = gatedAuth();
  await withSupabase(
    behave,
    async (api) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      hold();
      let rejected = 0;
      const guesses = times(20, async (n) => {
        const { status } = await signIn(api, n < 10 ? colleague : newEmail(), { from: office, secret: 'a guess' });
        if (status === 429) rejected++;
        return status;
      });
      await expect.poll(() => rejected).toBe(4);
      release();
      expect(tally(await guesses)).toEqual({ 401: 16, 429: 4 });
    },
    { TRUST_PROXY: '1' },
  );
});

test('while the password queue is full, only the right password shows trust in a client', async () => {
  const { behave, calls, seen, hold, release } = gatedAuth();
  await withSupabase(
    behave,
    async (api) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      /** Guesses while neighbours hold all places of their address. Returns the distinct answers. */
      const guessInFullQueue = async (count: number, secret = 'a guess') => {
        const before = calls.asked;
        hold();
        const neighbours = times(20, () => signIn(api, newEmail(), { from: office }));
        await expect.poll(() => calls.asked - before).toBe(10);
        const guess = async (email: string) => {
          const began = performance.now();
          const answer = JSON.stringify(await signIn(api, email, { from: office, secret }));
          return { answer, tookMs: performance.now() - began };
        };
        const guesses = times(count, () => guess(colleague));
        const untrusted = await guess(newEmail()); // takes 500 ms, so the guesses wait in the queue
        release();
        const all = [untrusted, ...(await guesses)];
        expect(Math.min(...all.map(({ tookMs }) => tookMs))).toBeGreaterThanOrEqual(499);
        await neighbours;
        return [...new Set(all.map(({ answer }) => answer))];
      };
      const busy = { status: 429, reason: 'limit_requests', retryAfter: 3 };
      for (const count of [10, 10, 9]) expect(await guessInFullQueue(count)).toEqual([JSON.stringify(busy)]);
      const [untrusted, right] = await guessInFullQueue(1, password);
      expect([untrusted, right]).toEqual([JSON.stringify(busy), expect.stringContaining('200')]);
      const before = seen.rejected;
      expect(await guessInFullQueue(5)).toEqual([JSON.stringify(busy)]);
      expect(seen.rejected - before).toBe(0); // 30 attempts an hour are tried
    },
    { TRUST_PROXY: '1', PASSWORD_CALLS_AT_ONCE: '10' },
  );
});

test('beyond a limit, a wrong code of a trusted client gets the response and time of all others', async () => {
  await withSupabase(
    countingAuth().behave,
    async (api) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      const guess = (email: string) => verify(api, email, '12345678').set('X-Forwarded-For', office);
      await times(100, () => guess(newEmail()).expect(401));
      const answers = await times(2, async (n) => {
        const began = performance.now();
        const { status, headers, body } = await guess(n ? colleague : newEmail());
        expect(performance.now() - began).toBeGreaterThanOrEqual(499);
        return { status, reason: headers['x-error-reason'], body };
      });
      expect(answers[0]).toMatchObject({ status: 429, reason: 'limit_attempts' });
      expect(answers[1]).toEqual(answers[0]);
    },
    env,
  );
});

test('a confirmed address trusts only the client that confirmed it', async () => {
  const { behave } = countingAuth();
  await withSupabase(
    (req, res) => (req.url === '/auth/v1/verify' ? sendSession(res) : behave(req, res)),
    async (api) => {
      const [formerOwner, owner] = ['192.0.2.1', '198.51.100.1'];
      const email = newEmail();
      expect(await signIn(api, email, { from: formerOwner })).toMatchObject({ status: 200 });
      await verify(api, email, '12345678', 'signup').set('X-Forwarded-For', owner).expect(200);
      const isTried = async (from: string) => {
        await fillLimitOf(api, from);
        return (await signIn(api, email, { from })).status === 200;
      };
      expect([await isTried(formerOwner), await isTried(owner)]).toEqual([false, true]);
    },
    env,
  );
});

test('an account trusts a client for 30 days after a sign-in', async () => {
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  const isTrustedAfter = async (days: number) => {
    const [trusted, email] = [createTrustedClients(null), newEmail()];
    clock.mockReturnValue(1_000);
    await trusted.add(email, '192.0.2.1');
    clock.mockReturnValue(1_000 + days * 24 * 3_600_000);
    return trusted.has(email, '192.0.2.1');
  };
  expect([await isTrustedAfter(29.9), await isTrustedAfter(30.1)]).toEqual([true, false]);
});

test('wrong passwords of one IPv6 /48 do not stop the owner at another network', async () => {
  await withSupabase(
    countingAuth().behave,
    async (api) => {
      const email = newEmail();
      const guess = (from: string) => signIn(api, email, { from, secret: 'x' });
      const statuses: number[] = [];
      for (let client = 1; client <= 9; client++)
        for (const { status } of await times(10, () => guess(`2001:db8:1:${client * 256}::1`))) statuses.push(status);
      expect(tally(statuses)).toEqual({ 401: 60, 429: 30 });
      expect(await signIn(api, email, { from: '2001:db8:2::1' })).toMatchObject({ status: 200 });
    },
    env,
  );
});

test('an account can sign in 30 times a minute, whatever wrong passwords are in flight', {
  tags: ['redis'],
}, async () => {
  await withTwoGateways(countingAuth().behave, async (apis) => {
    const email = newEmail();
    const statuses: number[] = [];
    for (let turn = 0; turn < 32; turn++)
      statuses.push((await signIn(apis[turn % 2 ? 1 : 0], email, { from: `10.0.${turn}.1` })).status);
    expect(statuses).toEqual([...Array(30).fill(200), 429, 429]);
  });
  const { held, behave, release } = holdingAuth();
  await withSupabase(
    behave,
    async (api) => {
      const email = newEmail();
      const wrong = times(39, (n) => signIn(api, email, { from: `10.${n}.0.1`, secret: 'x' }));
      await expect.poll(() => held.length).toBe(39);
      const right = signIn(api, email, { from: '10.100.0.1' });
      await expect.poll(() => held.length).toBe(40);
      sendSession(held.pop() as Parameters<typeof sendSession>[0]);
      expect(await right).toMatchObject({ status: 200 });
      release(reject);
      expect(tally((await wrong).map(({ status }) => status))).toEqual({ 401: 39 });
    },
    env,
  );
});

test('made-up refresh tokens neither reach Auth nor stop the refreshes of their address', async () => {
  let asked = 0;
  const behave: RequestListener = async (req, res) => {
    asked++;
    await text(req);
    sendSession(res);
  };
  await withSupabase(
    behave,
    async (api) => {
      const refresh = async (refresh_token: string) => {
        const { status, headers } = await api.post('/auth/refresh').send({ refresh_token });
        return `${status} ${headers['x-error-reason']}`;
      };
      const junk = await times(12, (n) => refresh(n % 2 ? 'junk' : 'no refresh token'));
      expect(tally(junk)).toEqual({ '401 session_ended': 10, '429 limit_requests': 2 });
      expect(asked).toBe(0);
      const real = await times(101, (n) => refresh(`abcdefghij${String(n).padStart(3, '0')}`));
      expect(tally(real)).toEqual({ '200 undefined': 100, '429 limit_requests': 1 });
    },
    { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '10' },
  );
});

test('a sign-up that opens a session ends the trust of its address in all clients', {
  tags: ['redis'],
}, async () => {
  await withTwoGateways(countingAuth().behave, async (apis) => {
    const email = newEmail();
    const from = '192.0.2.1';
    const isTried = async (api: Api) => (await signIn(api, email, { from })).status === 200;
    expect(await isTried(apis[0])).toBe(true);
    await fillLimitOf(apis[0], from);
    expect(await isTried(apis[1])).toBe(true);
    await apis[0].post('/auth/signup').set('X-Forwarded-For', '192.0.2.9').send({ email, password }).expect(200);
    expect([await isTried(apis[0]), await isTried(apis[1])]).toEqual([false, false]);
  });
});
