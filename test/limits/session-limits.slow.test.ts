import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail } from '../support/test.ts';
import { countingAuth, holdingAuth, reject, signIn, tally, times, withTwoGateways } from './bursts.ts';

const env = { TRUST_PROXY: '1', PASSWORD_CALLS_AT_ONCE: '100' };

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
