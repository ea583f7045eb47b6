import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect } from 'vitest';
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

describe('malformed HTTP', () => {
  test.for([
    ['a header without a colon', 'GET / HTTP/1.1\r\nthis is no header\r\n\r\n', 400],
    ['rubbish', 'rubbish\r\n\r\n', 400],
    ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    [
      'a length of a chunked body',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello',
      400,
    ],
    [
      'a chunk without a length',
      'POST /api/v1/plays HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n',
      400,
    ],
    ['an address without an end', 'GET http://[::1/api/v1/home HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an address without a host', 'GET https://[/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ] as const)('malformed HTTP with %s gets the error envelope', async ([, bytes, status], { gateway }) => {
    const response = await sendRaw(gateway.port, bytes);
    expect(response.status).toBe(status);
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });

  test('a request without a Host header is answered like any other', async ({ gateway }) => {
    const response = await sendRaw(gateway.port, 'GET /api/v1/nope HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(response.status).toBe(404);
    expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  });

  test('a body that turns out malformed after its response gets no second one', async ({ gateway }) => {
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

  test('malformed HTTP neither ends nor keeps the process', async () => {
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

  test('a client that leaves in the middle of its body is logged as aborted', async ({ api, gateway }) => {
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
