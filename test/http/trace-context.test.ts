import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'vitest';
import { traceOf } from '../../src/http/trace-context.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const given = `00-${traceId}-${spanId}-01`;

test('a trace continues to Supabase under a new span, and the log names it', async () => {
  const sent: IncomingHttpHeaders[] = [];
  await withSupabase(
    (req, res) => {
      sent.push(req.headers);
      req.resume();
      sendSession(res);
    },
    async (api, gateway) => {
      const signIn = (headers: Record<string, string>) =>
        api.post('/auth/signin').set(headers).send({ email: 'ada@example.com', password }).expect(200);
      await signIn({ traceparent: given, tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE' });
      await signIn({ tracestate: 'rojo=1' });
      const [continued, started] = sent;
      expect(continued?.['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
      expect(continued?.['traceparent']).not.toContain(spanId);
      expect(continued?.['tracestate']).toBe('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
      expect(started?.['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      expect(started?.['tracestate']).toBeUndefined();

      await expect.poll(() => gateway.logged.length).toBe(2);
      const logged = gateway.logged.map((line) => JSON.parse(line).traceId);
      expect(logged).toEqual([traceId, String(started?.['traceparent']).split('-')[1]]);
    },
  );
});

test('a malformed traceparent starts a new trace', () => {
  for (const malformed of [
    '',
    given.toUpperCase(),
    given.replace(/^00/, 'ff'),
    given.replace(traceId, '0'.repeat(32)),
    given.replace(spanId, '0'.repeat(16)),
    given.slice(0, -1),
    `${given}-more`,
    `${given}, ${given}`, // two headers, as Node joins them
    ` ${given}`,
    `cc-${traceId}-${spanId}-01x`,
  ]) {
    const { id, tracestate } = traceOf(malformed, 'rojo=1');
    expect(id, malformed).toMatch(new RegExp(`^(?!${traceId})[0-9a-f]{32}$`));
    expect(tracestate).toBeUndefined();
  }
});

test('a later version of traceparent continues as version 00, and tracestate up to 512 bytes', () => {
  for (const later of ['', '-more'].map((more) => `cc-${traceId}-${spanId}-ff${more}`)) {
    const { id, traceparent } = traceOf(later, undefined);
    expect(id).toBe(traceId);
    expect(traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  }
  const stateOf = (tracestate: string) => traceOf(given, tracestate).tracestate;
  expect(stateOf('x'.repeat(512))).toBe('x'.repeat(512));
  expect(stateOf('x'.repeat(513))).toBeUndefined();
});
