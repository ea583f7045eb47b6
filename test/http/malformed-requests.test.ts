import { once } from 'node:events';
import { type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { withSupabase } from '../support/fake-supabase.ts';
import { environment, startListening } from '../support/server-process.ts';
import { test } from '../support/test.ts';

/** The head and body of the answer to bytes that no HTTP client would send. */
function sendRaw(port: number, bytes: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    // One that is reset after its answer, since what came last was not read, has got it all the same.
    socket.on('error', (error) => answer === '' && reject(error));
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      const [statusLine = '', ...lines] = head.split('\r\n');
      const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
      resolve(new Response(body, { status: Number(statusLine.split(' ')[1]), headers }));
    });
  });
}

describe('a malformed request', () => {
  test('gets the error envelope and the headers of every answer', async ({ api, gateway }) => {
    const wellFormed = await api.get('/categories');
    const secure = Object.entries(wellFormed.headers).filter(([name]) =>
      /^(content-security|cross|referrer|strict|x-frame|x-content)/.test(name),
    );
    expect(secure.length).toBeGreaterThan(4);
    for (const [bytes, status] of [
      ['GET / HTTP/1.1\r\nthis is no header\r\n\r\n', 400],
      ['rubbish\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
      ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello', 400],
      ['GET http://[::1/api/v1/categories HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['GET https://[/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ] as const) {
      const response = await sendRaw(gateway.port, bytes);
      expect(response.status).toBe(status);
      const body = JSON.parse(await response.clone().text());
      expect(body).toEqual({ error: { code: 'invalid_request', message: 'The request is not valid HTTP.' } });
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(response.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
      }
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      for (const [name, value] of secure) expect(response.headers.get(name), name).toBe(value);
    }
  });

  test('a request without a Host header is answered like any other', async ({ gateway }) => {
    const response = await sendRaw(gateway.port, 'GET /api/v1/nope HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(response.status).toBe(404);
    expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  });

  test('behind a valid one, on the same connection, does not take its answer', async ({ gateway }) => {
    const response = await sendRaw(
      gateway.port,
      'GET /api/v1/categories HTTP/1.1\r\nHost: a\r\n\r\nrubbish\r\n\r\n',
    );
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('{"data":[');
  });

  test('whose body turns out malformed after its answer gets no second one', async ({ gateway }) => {
    const answers = await new Promise<string>((resolve) => {
      let received = '';
      const head = 'POST /api/v1/auth/signout HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(head));
      socket.setEncoding('utf8').on('data', (text) => {
        if (received === '') socket.write('no length\r\n');
        received += text;
      });
      socket.on('error', () => {}).on('close', () => resolve(received));
    });
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });

  test('of many parts behind a valid one is one error, and leaves no listener for each part', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const behave: RequestListener = (_req, res) => {
      setTimeout(() => res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'), 500);
    };
    await withSupabase(behave, async (_api, { port }) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET /api/v1/categories HTTP/1.1\r\nHost: a\r\n\r\nrubbish\r\n\r\n'),
      );
      const more = setInterval(() => socket.write('rubbish\r\n'), 5);
      // The connection may be reset, since what came last was not read; once() would take that for a failure.
      socket.on('error', () => {}).resume();
      await new Promise((resolve) => socket.on('close', resolve));
      clearInterval(more);
    });
    process.off('warning', note);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  });

  test('waits for the answer to the one before it, however long that takes', async () => {
    const behave: RequestListener = (_req, res) => {
      setTimeout(() => res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'), 500);
    };
    await withSupabase(behave, async (_api, { port }) => {
      const response = await sendRaw(
        port,
        'GET /api/v1/categories HTTP/1.1\r\nHost: a\r\n\r\nrubbish\r\n\r\n',
      );
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('{"data":[]}');
    });
  });

  test('or a CONNECT neither ends the process when its client breaks off, nor keeps it when the client stays', async () => {
    const { child, exited, origin } = await startListening(environment());
    const port = Number(new URL(origin).port);
    const requests = ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 'rubbish\r\n\r\n'];
    const leave = (bytes: string) =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('close', resolve);
      });
    for (let count = 0; count < 50; count++) await Promise.all(requests.map(leave));
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);

    const staying = requests.map((bytes) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(bytes));
      return once(socket.on('error', () => {}).resume(), 'end');
    });
    await Promise.all(staying);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  test('with a body that stops coming ends when its client goes, and nothing else suffers', async ({
    api,
    gateway,
  }) => {
    const upload = request(`${gateway.url}/auth/signin`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': '1000' },
    });
    upload.on('error', () => {});
    upload.write('{"email":');
    await api.get('/categories').expect(200);
    upload.destroy();
    await expect.poll(() => gateway.logged.some((line) => line.includes('aborted'))).toBe(true);
  });
});
