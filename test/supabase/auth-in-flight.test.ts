import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

const paths: Record<string, object[]> = {
  '/auth/signup': [
    { email: 'ada@example.com', password },
    { email: 'cleo@example.com', password, full_name: 'Ada' },
    { email: 'dora@example.com', password: `${password}!` },
  ],
  '/auth/oauth/google': [{ id_token: 'a.b.c' }, { id_token: 'a.b.c', nonce: 'n' }, { id_token: 'a.b.d' }],
  '/auth/refresh': [{ refresh_token: 'one-refresh-token' }, { refresh_token: 'another-refresh-token' }],
};
test.for(Object.entries(paths))(
  'simultaneous requests to %s share one call to Auth only if they are equal',
  async ([path, bodies]) => {
    const waiting: ServerResponse[] = [];
    const asked: string[] = [];
    await withSupabase(
      async (req, res) => {
        // The gateway reads the settings of Auth during a slow sign-up.
        if (req.url === '/auth/v1/settings') return void res.writeHead(503).end();
        asked.push(await text(req));
        waiting.push(res);
      },
      async (api) => {
        const answers = Promise.all(bodies.flatMap((body) => [1, 2].map(() => api.post(path).send(body))));
        await expect.poll(() => asked.length).toBe(bodies.length);
        expect(new Set(asked).size).toBe(bodies.length);
        for (const res of waiting.splice(0)) sendSession(res);
        expect((await answers).map(({ status }) => status)).toEqual(Array(2 * bodies.length).fill(200));

        const later = Promise.all([api.post(path).send(bodies[0]).expect(200)]); // a later request is not shared
        await expect.poll(() => waiting.length).toBe(1);
        for (const res of waiting) sendSession(res);
        await later;
      },
    );
  },
);
