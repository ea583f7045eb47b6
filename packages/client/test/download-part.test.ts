import { createServer, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../../../test/support/gateway.ts';
import { addressRejected, notTheRecording, requestPart } from '../src/download-part.ts';

const recording = Buffer.from(Uint8Array.from({ length: 2_500_000 }, (_, n) => n % 251));
const [first, end, totalBytes] = [1_000_000, 2_000_000, recording.length];
const range = { first, end, totalBytes };
const part = recording.subarray(first, end);
const audio = { 'Content-Type': 'audio/mp4' };
const rangeOf = (from: number, to: number, total: number | string = totalBytes) => ({
  ...audio,
  'Content-Range': `bytes ${from}-${to - 1}/${total}`,
});

/** Requests the second part of the recording from a server. @returns its bytes, and the error that ended it */
async function request(respond: (response: ServerResponse) => void, signal = new AbortController().signal) {
  const server = await listen(createServer((_request, response) => respond(response)));
  onTestFinished(() => void server.close());
  const pieces: Uint8Array[] = [];
  let error: unknown = null;
  try {
    for await (const { bytes } of requestPart(fetch, `http://127.0.0.1:${server.port}`, range, signal))
      pieces.push(bytes);
  } catch (thrown) {
    error = thrown;
  }
  return { pieces, bytes: Buffer.concat(pieces), error };
}

test.for([
  ['a page of a hotel', 200, { 'Content-Type': 'text/html' }, Buffer.alloc(39)],
  ['JSON', 206, { ...rangeOf(first, end), 'Content-Type': 'application/json' }, part],
  ['no type', 206, { 'Content-Range': `bytes ${first}-${end - 1}/${totalBytes}` }, part],
  ['another range', 206, rangeOf(0, first), recording.subarray(0, first)],
  ['a recording of another size', 206, rangeOf(first, end, totalBytes + 1), part],
  ['a whole file of another size', 200, { ...audio, 'Content-Length': '39' }, Buffer.alloc(39)],
  ['a longer part', 206, rangeOf(first, end + 1), recording.subarray(first, end + 1)],
  ['more bytes than Content-Range says', 206, rangeOf(first, end - 1), part],
  ['fewer bytes than Content-Range says', 206, rangeOf(first, end), part.subarray(1)],
  ['a longer part without Content-Range', 206, audio, recording.subarray(first)],
  ['an answer without content', 204, audio, null],
] as const)('requestPart rejects %s', async ([, status, headers, body]) => {
  const { error, bytes } = await request((response) => response.writeHead(status, headers).end(body));
  expect(error).toBe(notTheRecording);
  expect(bytes).toHaveLength(0);
});

test.for(['audio/mp4', 'video/mp4', 'application/ogg', 'application/octet-stream', 'binary/octet-stream'])(
  'requestPart takes a part of type %s',
  async (type) => {
    const headers = { ...rangeOf(first, end), 'Content-Type': type };
    const { error, bytes } = await request((response) => response.writeHead(206, headers).end(part));
    expect(error).toBeNull();
    expect(bytes.equals(part)).toBe(true);
  },
);

test('requestPart takes the rest of the whole file from a server that ignores Range', async () => {
  const { error, pieces, bytes } = await request((response) => response.writeHead(200, audio).end(recording));
  expect(error).toBeNull();
  expect(pieces.length).toBeGreaterThan(1);
  expect(bytes.equals(recording.subarray(first))).toBe(true);
});

test('requestPart yields the bytes that came before the connection broke', async () => {
  const { error, bytes } = await request((response) => {
    response.writeHead(206, { ...rangeOf(first, end), 'Content-Length': part.length });
    response.write(part.subarray(0, 300_000), () => setImmediate().then(() => response.destroy()));
  });
  expect(error).toBeInstanceOf(TypeError);
  expect(part.subarray(0, bytes.length).equals(bytes)).toBe(true);
  expect(bytes.length).toBeGreaterThan(0);
});

test('requestPart ends when nothing arrives for 30 seconds, and not before', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let sent = 0;
  let send = () => {};
  const asked = request((response) => {
    response.writeHead(206, rangeOf(first, end));
    send = () => {
      response.write(part.subarray(sent, sent + 100_000));
      sent += 100_000;
    };
    send();
  });
  const isEnded = vi.fn();
  void asked.finally(isEnded);
  for (let chunk = 1; chunk <= 5; chunk += 1) {
    await vi.waitUntil(() => sent === chunk * 100_000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate(); // until the chunk has arrived
    await vi.advanceTimersByTimeAsync(29_000);
    expect(isEnded).not.toHaveBeenCalled();
    if (chunk < 5) send();
  }
  await vi.advanceTimersByTimeAsync(30_000);
  const { error, bytes } = await asked;
  expect(error).toMatchObject({ code: 'no_answer' });
  expect(bytes.equals(part.subarray(0, 500_000))).toBe(true);
});

test('requestPart distinguishes a rejected address from a busy server', async () => {
  const errorOf = async (status: number) => (await request((response) => response.writeHead(status).end())).error;
  expect(await errorOf(400)).toBe(addressRejected);
  expect(await errorOf(429)).toBe(notTheRecording);
  expect(await errorOf(500)).toBe(notTheRecording);
});
