import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password } from '../support/test.ts';
import { holdingAuth, reject } from './bursts.ts';

/** Returns bodies of attempts for one account. Equal codes would share one call. */
const bodies = {
  signin: (email: string, _n: number) => ({ email, password }),
  verify: (email: string, n: number) => ({ type: 'recovery', email, code: `1234567${n}` }),
};

type Send = (url: string, bodies: object[]) => () => void;

/** Sends attempts, each on a connection. Returns a function that disconnects. */
const onConnections: Send = (url, attempts) => {
  const leaving = new AbortController();
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, signal: leaving.signal };
  for (const each of attempts) fetch(url, { ...init, body: JSON.stringify(each) }).catch(() => {});
  return () => leaving.abort();
};

/** Sends attempts in one packet. Returns a function that disconnects. */
const inOnePacket: Send = (url, attempts) => {
  const { pathname, port } = new URL(url);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: `;
  const texts = attempts.map((each) => JSON.stringify(each));
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  socket.write(texts.map((text) => `${head}${text.length}\r\n\r\n${text}`).join(''));
  return () => socket.destroy();
};

test.for([
  ['signin', 'on ten connections', onConnections],
  ['signin', 'in one packet', inOnePacket],
  ['verify', 'on ten connections', onConnections],
  ['verify', 'in one packet', inOnePacket],
] as const)(
  'POST /auth/%s counts attempts %s by their results, also if the client has gone',
  async ([path, , send]) => {
    const { held, behave, hold, release } = holdingAuth();
    await withSupabase(
      behave,
      async (api, { url }) => {
        const email = newEmail();
        const attempt = () => api.post(`/auth/${path}`).send(bodies[path](email, 9));
        const hangUp = async () => {
          hold();
          const ten = Array.from({ length: 10 }, (_, n) => bodies[path](email, n));
          const disconnect = send(`${url}/auth/${path}`, ten);
          await expect.poll(() => held.length).toBe(10);
          disconnect();
          // An attempt counts as wrong until its result is known, so ten of them exceed the limit.
          await attempt().expect(429).expect('Retry-After', '3').expect('X-Error-Reason', 'limit_requests');
        };
        await hangUp();
        release();
        await expect.poll(async () => (await attempt()).status).toBe(200);
        await hangUp();
        release(reject);
        await expect.poll(async () => (await attempt()).get('X-Error-Reason')).toBe('limit_attempts');
        expect(Number((await attempt()).get('Retry-After'))).toBeGreaterThan(3);
      },
      { PASSWORD_CALLS_AT_ONCE: '10' },
    );
  },
);
