import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { alphabet, ask, audioBucket, cover, coversBucket, useBuckets } from './buckets.ts';
import { type Request, type Supabase, test } from './supabase.ts';

// tools/catalogue/test/interrupted.slow.test.ts tests how an interrupted upload continues.

useBuckets();

/** Sends a request of the TUS protocol with the secret key. */
const tus = ({ call, secretKey }: Supabase, path: string, { headers, ...request }: Request) =>
  call(path, { apikey: secretKey, token: secretKey, headers: { 'Tus-Resumable': '1.0.0', ...headers }, ...request });

interface Sent {
  bucket?: string;
  type?: string;
  length?: number;
  token?: string;
  headers?: object;
}

function begin(supabase: Supabase, name: string, sent: Sent = {}) {
  const { bucket = coversBucket, type = 'text/plain', length = alphabet.length, headers, ...as } = sent;
  const metadata = { bucketName: bucket, objectName: name, contentType: type, cacheControl: '60' };
  const encoded = Object.entries(metadata).map(([key, value]) => `${key} ${btoa(value)}`);
  return tus(supabase, '/storage/v1/upload/resumable', {
    method: 'POST',
    headers: { 'Upload-Length': String(length), 'Upload-Metadata': encoded.join(','), ...headers },
    ...as,
  });
}

test('a resumable upload is rejected before a byte is sent', async ({ supabase }) => {
  const { accessToken } = await supabase.signUp();
  for (const [sent, expected] of [
    [{ bucket: audioBucket, type: 'image/jpeg' }, 415],
    [{ bucket: audioBucket, length: 101 }, 413],
    [{ token: accessToken }, 403], // no policy allows it
  ] as const)
    expect((await begin(supabase, randomUUID(), sent)).status).toBe(expected);
  const { status, body } = await begin(supabase, 'a', { token: 'made.up.token' });
  expect([status, body.statusCode]).toEqual([400, '403']); // as for every call of Storage
});

test('a resumable upload with x-upsert replaces an object after its last part', async ({ supabase }) => {
  const name = await cover(supabase, 'one');
  const stored = () => ask(supabase, `public/${coversBucket}/${name}`);
  expect((await begin(supabase, name)).status).toBe(409);
  const upsert = { 'x-upsert': 'true' };
  const { status, headers } = await begin(supabase, name, { headers: upsert });
  expect(status).toBe(201);
  const { pathname } = new URL(headers.get('location') ?? '');
  const type = 'application/offset+octet-stream';
  const send = async (offset: number, body: string) => {
    const part = { 'Content-Type': type, 'Upload-Offset': String(offset), ...upsert };
    return (await tus(supabase, pathname, { method: 'PATCH', body, headers: part })).status;
  };
  expect(await send(0, alphabet.slice(0, 10))).toBe(204);
  expect(await send(5, alphabet.slice(5))).toBe(409);
  expect((await stored()).body).toBe('one');
  expect(await send(10, alphabet.slice(10))).toBe(204);
  const after = await stored();
  expect(after.body).toBe(alphabet);
  expect(after.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(after.headers.get('cache-control')).toBe('max-age=60');
  // A client that missed the last response asks for the offset.
  const progress = await tus(supabase, pathname, { method: 'HEAD' });
  expect(progress.headers.get('upload-offset')).toBe(String(alphabet.length));
});
