import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { traceOf } from '../../src/http/trace-context.ts';
import { apiAt } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { password, test } from '../support/test.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const given = `00-${traceId}-${spanId}-01`;

describe('the trace of a request', () => {
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
    const malformed = [
      '',
      'rubbish',
      given.toUpperCase(),
      given.replace(/^00/, 'ff'),
      given.replace(traceId, '0'.repeat(32)),
      given.replace(spanId, '0'.repeat(16)),
      given.slice(0, -1),
      `${given}-more`,
      `${given},${given}`,
      ` ${given}`,
      `${given}\n`,
      given.replace('af', 'xy'),
    ];
    for (const traceparent of malformed) {
      const { id, tracestate } = traceOf(traceparent, 'rojo=1');
      expect(id, traceparent).toMatch(/^[0-9a-f]{32}$/);
      expect(id, traceparent).not.toBe(traceId);
      expect(tracestate).toBeUndefined();
    }
  });

  test('reads later versions of traceparent and forwards the fields of version 00', () => {
    for (const later of [given, `${given}-more`, given.replace(/01$/, 'ff')]) {
      const { id, traceparent } = traceOf(later.replace(/^00/, 'cc'), undefined);
      expect(id).toBe(traceId);
      expect(traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    }
    expect(traceOf(`cc-${traceId}-${spanId}-01x`, undefined).id).not.toBe(traceId);
  });

  test('tracestate is passed on up to 512 bytes', () => {
    const stateOf = (tracestate: string) => traceOf(given, tracestate).tracestate;
    for (const state of ['a=1, tenant@b=2 ,,c=x y', 'x'.repeat(512)]) expect(stateOf(state)).toBe(state);
    expect(stateOf('x'.repeat(513))).toBeUndefined();
  });

  test('ignores a request with two traceparent headers', async () => {
    const gateway = await startGateway();
    const socket = connect(gateway.port, '127.0.0.1');
    const headers = `Host: x\r\ntraceparent: ${given}\r\ntraceparent: ${given}\r\nConnection: close`;
    socket.end(`GET /api/v1/nope HTTP/1.1\r\n${headers}\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
    await expect.poll(() => gateway.logged.length).toBe(1);
    expect(JSON.parse(gateway.logged[0] ?? '').traceId).toMatch(/^(?!0af7651916cd43dd)[0-9a-f]{32}$/);
    await gateway.close();
  });

  test('pages of CORS_ORIGINS may send trace headers', async () => {
    const origin = 'https://app.example.com';
    const gateway = await startGateway({ CORS_ORIGINS: origin });
    await apiAt(gateway.url)
      .options('/home')
      .set({
        Origin: origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization,traceparent,tracestate',
      })
      .expect(204)
      .expect('Access-Control-Allow-Headers', 'authorization,traceparent,tracestate');
    await gateway.close();
  });
});
