import type { RequestListener } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTrustedClients } from '../../src/limits/trusted-clients.ts';
import { verify } from '../routes/mailed-codes.ts';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { countingAuth, signIn, tally, times, withTwoGateways } from './bursts.ts';

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
        expect(performance.now() - began).toBeGreaterThanOrEqual(1_999);
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
    async (api, { arrived }) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      /** Guesses while neighbours hold all places of their address. Returns the distinct answers. */
      const guessInFullQueue = async (count: number, { secret = 'a guess', isAuthStuck = false } = {}) => {
        const before = { asked: calls.asked, arrived: arrived() };
        hold();
        const neighbours = times(20, () => signIn(api, newEmail(), { from: office }));
        await expect.poll(() => calls.asked - before.asked).toBe(10);
        const guess = async (email: string) => {
          const began = performance.now();
          const answer = JSON.stringify(await signIn(api, email, { from: office, secret }));
          return { answer, tookMs: performance.now() - began };
        };
        const untrusted = guess(newEmail());
        const guesses = times(count, () => guess(colleague));
        await expect.poll(() => arrived() - before.arrived).toBe(20 + count + 1);
        if (isAuthStuck) await Promise.all([untrusted, guesses]);
        release();
        const all = [await untrusted, ...(await guesses)];
        const rejected = all.filter(({ answer }) => !answer.includes('200')).map(({ tookMs }) => tookMs);
        expect(Math.min(...rejected)).toBeGreaterThanOrEqual(1_999);
        await neighbours;
        return [...new Set(all.map(({ answer }) => answer))];
      };
      const busy = JSON.stringify({ status: 429, reason: 'limit_requests', retryAfter: 3 });
      for (const count of [10, 9]) expect(await guessInFullQueue(count)).toEqual([busy]);
      expect(await guessInFullQueue(10, { isAuthStuck: true })).toEqual([busy]);
      const right = await guessInFullQueue(1, { secret: password });
      expect(right).toEqual([busy, expect.stringContaining('200')]);
      const before = seen.rejected;
      expect(await guessInFullQueue(5)).toEqual([busy]);
      expect(seen.rejected - before).toBe(0); // 30 attempts an hour are tried
    },
    { TRUST_PROXY: '1', PASSWORD_CALLS_AT_ONCE: '10' },
  );
});

test('beyond a limit, a wrong code of a trusted client gets the response and time of all others', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  await withSupabase(
    countingAuth().behave,
    async (api) => {
      const [office, colleague, stranger] = ['192.0.2.1', newEmail(), newEmail()];
      expect(await signIn(api, colleague, { from: office })).toMatchObject({ status: 200 });
      const guess = (email: string) => verify(api, email, '12345678').set('X-Forwarded-For', office);
      const guessBoth = () =>
        times(2, async (n) => {
          const began = performance.now();
          const { status, headers, body } = await guess(n ? colleague : stranger);
          const [reason, retryAfter] = [headers['x-error-reason'], headers['retry-after']];
          return { answer: { status, reason, retryAfter, body }, tookMs: performance.now() - began };
        });
      await times(100, () => guess(newEmail()).expect(401));
      const [first, second] = await guessBoth();
      expect(first?.answer).toMatchObject({ status: 429, reason: 'limit_attempts' });
      expect(second?.answer).toEqual(first?.answer);
      for (const guessed of [first, second]) expect(guessed?.tookMs).toBeGreaterThanOrEqual(1_999);

      // The attempt that was made does not start the window of a limit, whose end a later Retry-After shows.
      vi.setSystemTime(Date.now() + 10 * 60_000);
      await times(20, (n) => guess(n % 2 ? colleague : stranger).expect(401));
      const [ofStranger, ofColleague] = await guessBoth();
      expect(ofStranger?.answer).toMatchObject({ status: 429, retryAfter: '3600' });
      expect(ofColleague?.answer).toEqual(ofStranger?.answer);
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

test('beyond a limit, a trusted client with too many sign-ins gets the response of all others', async () => {
  await withSupabase(
    countingAuth().behave,
    async (api) => {
      const [office, colleague] = ['192.0.2.1', newEmail()];
      const places = [office, ...Array.from({ length: 29 }, (_, n) => `10.${n}.0.1`)];
      for (const from of places) expect(await signIn(api, colleague, { from })).toMatchObject({ status: 200 });
      await fillLimitOf(api, office);
      const [known, stranger] = await Promise.all([
        signIn(api, colleague, { from: office }),
        signIn(api, newEmail(), { from: office }),
      ]);
      expect(known).toEqual({ ...stranger, retryAfter: expect.toSatisfy((seconds) => seconds > 60) });
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
    await trusted.trust(email, '192.0.2.1');
    clock.mockReturnValue(1_000 + days * 24 * 3_600_000);
    return trusted.has(email, '192.0.2.1');
  };
  expect([await isTrustedAfter(29.9), await isTrustedAfter(30.1)]).toEqual([true, false]);
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
