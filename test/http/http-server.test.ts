import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { test } from '../support/test.ts';

/** Sends raw bytes, and `more` after the first response. Returns all responses. */
function sendRaw(port: number, bytes: string, more?: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (chunk) => {
      if (received === '' && more !== undefined) socket.write(more);
      received += chunk;
    });
    // Ignore a reset, because the server closes the connection without reading the last bytes.
    socket.on('error', () => {}).on('close', () => resolve(received));
  });
}

const post = 'POST /api/v1/plays HTTP/1.1\r\nHost: a';
test.for([
  ['a header without a colon', 'GET / HTTP/1.1\r\nthis is no header\r\n\r\n', 400],
  ['the method CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['an expectation that no server knows', `${post}\r\nExpect: 200-ok\r\n\r\n`, 417],
  ['two lengths', `${post}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`, 400],
  ['a chunk without a length', `${post}\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n`, 400],
  ['an address without an end', 'GET http://[::1/api/v1/home HTTP/1.1\r\nHost: a\r\n\r\n', 400],
] as const)('malformed HTTP with %s gets an error like any other', async ([, bytes, status], { gateway }) => {
  const [head = '', body = ''] = (await sendRaw(gateway.port, bytes)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nConnection: close$`, 's'));
  expect(head).toMatch(/\r\nX-Request-Id: [\da-f-]{36}\r\n/);
  expect(head).toMatch(/\r\nX-Service-Time: \d{13}\r\n/);
  expect(head).toContain('\r\nX-Error-Reason: validation\r\n');
  expect(head).toContain('\r\nCache-Control: no-store\r\n');
  const { error } = JSON.parse(body);
  expect(error).toEqual({ code: 'invalid_request', message: expect.stringContaining(status === 431 ? '16 KB' : ' ') });
});

test('a request without a Host header is answered like any other', async ({ gateway }) => {
  const answer = await sendRaw(gateway.port, 'GET /api/v1/nope HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 404 .*X-RateLimit-Limit: \d+\r\n/s);
});

test('a body that becomes malformed after the response gets no second response', async ({ gateway }) => {
  const head = 'POST /api/v1/auth/signout HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const answers = await sendRaw(gateway.port, head, 'no length\r\n');
  expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});

test('malformed HTTP ends only its own connection, also if the client leaves', async ({ api, gateway: { port } }) => {
  const malformed = ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 'rubbish\r\n\r\n'];
  for (const bytes of Array(50).fill(malformed).flat()) {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
    await once(socket, 'close');
  }
  for (const bytes of malformed) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(bytes));
    await once(socket.on('error', () => {}).resume(), 'end');
  }
  await api.get('/categories').expect(200);
});

test('a client that disconnects while it sends its body is logged as aborted', async ({ gateway }) => {
  const before = gateway.arrived();
  const upload = request(`${gateway.url}/auth/signin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': '1000' },
  });
  upload.on('error', () => {});
  upload.write('{"email":');
  await expect.poll(gateway.arrived).toBe(before + 1);
  upload.destroy();
  await expect.poll(() => gateway.logged.some((line) => line.includes('aborted'))).toBe(true);
});
