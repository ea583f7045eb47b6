import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { AUDIO, COVERS, TEXT, upload, useBuckets } from './buckets.ts';
import { type Supabase, test } from './supabase.ts';

useBuckets();

type Sent = { path: string; type?: string; length?: number; token?: string; headers?: object };

/** Begins a resumable upload. */
async function begin(
  supabase: Supabase,
  { path, type = 'audio/mpeg', length = TEXT.length, token, headers }: Sent,
) {
  const [bucket, ...name] = path.split('/');
  const metadata = { bucketName: bucket, objectName: name.join('/'), contentType: type, cacheControl: '60' };
  const answer = await supabase.call('/storage/v1/upload/resumable', {
    method: 'POST',
    apikey: supabase.secretKey,
    token: token ?? supabase.secretKey,
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Length': String(length),
      'Upload-Metadata': Object.entries(metadata)
        .map(([key, value]) => `${key} ${Buffer.from(value ?? '').toString('base64')}`)
        .join(','),
      ...headers,
    },
  });
  const location = answer.headers.get('location');
  return { ...answer, location: location && new URL(location).pathname };
}

/** Sends a part of what was begun. */
function send(supabase: Supabase, location: string | null, offset: number, text: string, headers = {}) {
  return supabase.call(location ?? '', {
    method: 'PATCH',
    apikey: supabase.secretKey,
    token: supabase.secretKey,
    body: text,
    headers: {
      'Tus-Resumable': '1.0.0',
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(offset),
      ...headers,
    },
  });
}

const head = async (supabase: Supabase, location: string | null) => {
  const { status, headers } = await supabase.call(location ?? '', {
    method: 'HEAD',
    headers: { 'Tus-Resumable': '1.0.0' },
  });
  return [status, headers.get('upload-offset')];
};

test('a resumable upload becomes an object with its last part, and reports its progress', async ({
  supabase,
}) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  const { status, location } = await begin(supabase, { path, type: 'text/plain' });
  expect(status).toBe(201);
  expect((await send(supabase, location, 0, TEXT.slice(0, 10))).status).toBe(204);
  expect(await head(supabase, location)).toEqual([200, '10']);
  expect((await supabase.call(`/storage/v1/object/public/${path}`)).body.statusCode).toBe('404');
  expect((await send(supabase, location, 5, TEXT.slice(5))).status).toBe(409);
  expect((await send(supabase, location, 10, TEXT.slice(10))).status).toBe(204);
  const { body, headers } = await supabase.call(`/storage/v1/object/public/${path}`);
  expect(body).toBe(TEXT);
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  expect(headers.get('cache-control')).toBe('max-age=60');
  // For a client that missed the last answer.
  expect(await head(supabase, location)).toEqual([200, String(TEXT.length)]);
});

test('a resumable upload is rejected before a byte is sent', async ({ supabase }) => {
  const { accessToken } = await supabase.signUp();
  for (const [sent, expected] of [
    [{ type: 'image/jpeg' }, 415],
    [{ length: 101 }, 413],
    [{ token: accessToken }, 403], // without a policy
  ] as const)
    expect((await begin(supabase, { path: `${AUDIO}/${randomUUID()}`, ...sent })).status).toBe(expected);
  const { status, body } = await begin(supabase, { path: `${AUDIO}/a`, token: 'made.up.token' });
  expect([status, body.statusCode]).toEqual([400, '403']); // as every call of Storage
});

test('a resumable upload replaces an existing object with x-upsert alone', async ({ supabase }) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  await upload(supabase, path, 'text/plain', 'one');
  expect((await begin(supabase, { path, type: 'text/plain' })).status).toBe(409);
  const headers = { 'x-upsert': 'true' };
  const { location } = await begin(supabase, { path, type: 'text/plain', headers });
  expect((await supabase.call(`/storage/v1/object/public/${path}`)).body).toBe('one');
  expect((await send(supabase, location, 0, TEXT, headers)).status).toBe(204);
  expect((await supabase.call(`/storage/v1/object/public/${path}`)).body).toBe(TEXT);
});
