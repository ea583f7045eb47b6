import { hash, randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { alphabet, ask, audio, audioBucket, cover, coversBucket, upload, useBuckets } from './buckets.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

useBuckets();

test('an upload is rejected if its bucket does not allow its type or size', async ({ supabase }) => {
  for (const [type, size, expected] of [
    ['audio/mpeg', 100, undefined],
    ['audio/mpeg', 101, '413'],
    ['text/plain', 1, undefined],
    ['image/jpeg', 1, '415'],
    ['audio/mpeg; charset=utf-8', 1, '415'],
    ['Audio/MPEG', 1, '415'],
  ] as const) {
    const { body } = await upload(supabase, `${audioBucket}/${randomUUID()}`, type, 'a'.repeat(size));
    expect([type, size, body.statusCode]).toEqual([type, size, expected]);
  }
});

test('an upload of a form stores its file, because supabase-js sends a Blob as a form', async ({ supabase }) => {
  const path = `${coversBucket}/${randomUUID()}.txt`;
  const body = new FormData();
  body.append('cacheControl', '60');
  body.append('', new Blob([alphabet], { type: 'text/x-note' }));
  const apikey = supabase.secretKey;
  const headers = { apikey, Authorization: `Bearer ${apikey}` };
  await fetch(`${supabase.url}/storage/v1/object/${path}`, { method: 'POST', headers, body });
  const stored = await ask(supabase, `public/${path}`);
  expect(stored.body).toBe(alphabet);
  expect(stored.headers.get('content-type')).toMatch(/^text\/x-note/);
  expect(stored.headers.get('cache-control')).toBe('max-age=60');
});

test('uploads and signing reject a name with other characters as InvalidKey', async ({ supabase }) => {
  const path = `${coversBucket}/${encodeURIComponent('ä#.txt')}`;
  for (const { status, body } of [
    await upload(supabase, path, 'text/plain'),
    await ask(supabase, `sign/${path}`, { body: { expiresIn: 60 } }),
  ])
    expect([status, body.statusCode, body.error]).toEqual([400, '400', 'InvalidKey']);
});

test('the ETag of a file is its MD5, also after a replacement, and results in a 304', async ({ supabase }) => {
  const etag = `"${hash('md5', alphabet)}"`;
  const get = (name: string, headers = {}) => ask(supabase, `public/${coversBucket}/${name}`, { headers });
  const name = await cover(supabase, 'another text');
  expect((await upload(supabase, `${coversBucket}/${name}`)).body).toMatchObject({
    statusCode: '409',
    error: 'Duplicate',
  });
  await upload(supabase, `${coversBucket}/${name}`, 'text/plain', alphabet, { 'x-upsert': 'true' });
  expect((await get(name)).headers.get('etag')).toBe(etag);
  const same = await get(name, { 'If-None-Match': etag });
  expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', etag]);
  expect((await get(name, { 'If-None-Match': '"other"' })).body).toBe(alphabet);
});

test('a deleted file is missing, and cannot be deleted again', async ({ supabase }) => {
  const name = await cover(supabase);
  const remove = () => ask(supabase, `${coversBucket}/${name}`, { method: 'DELETE' });
  expect((await remove()).body).toEqual({ message: 'Successfully deleted' });
  expect((await ask(supabase, `public/${coversBucket}/${name}`)).body.statusCode).toBe('404');
  expect((await remove()).body.statusCode).toBe('404');
});

test('the public address serves files of public buckets without a key, and no other files', async ({ supabase }) => {
  const path = `${coversBucket}/${randomUUID()}.txt`;
  await upload(supabase, path, 'text/plain', 'open', { 'Cache-Control': 'max-age=3600' });
  const { status, body, headers } = await ask(supabase, `public/${path}`, { apikey: null });
  expect([status, body, headers.get('cache-control')]).toEqual([200, 'open', 'max-age=3600']);
  if (inject('stack').embedded) expect(headers.get('keep-alive')).toBe('timeout=120');
  expect(await codeOf(supabase.call('/storage/v1/bucket', { apikey: null }))).toBe('400 400');
  expect(await codeOf(ask(supabase, `public/${audioBucket}/${encodeURI(await audio(supabase))}`))).toBe('400 404');
});

test('a folder can be listed by name, in pages', async ({ supabase }) => {
  const folder = randomUUID();
  for (const name of ['b.mp3', 'a.mp3', 'deeper/c.mp3', 'deeper/d.mp3', 'B2.mp3'])
    await upload(supabase, `${audioBucket}/${folder}/${name}`);
  const list = async (body: object) => {
    const { body: entries } = await ask(supabase, `list/${audioBucket}`, { body });
    return entries.map(({ name, id }: { name: string; id: string | null }) => (id ? name : `${name}/`));
  };
  for (const [request, expected] of [
    [{ prefix: `${folder}/` }, ['a.mp3', 'b.mp3', 'B2.mp3', 'deeper/']],
    [{ limit: 1, offset: 1 }, ['b.mp3']],
    [{ search: 'B' }, ['b.mp3', 'B2.mp3']],
    [{ sortBy: { column: 'name', order: 'desc' } }, ['deeper/', 'B2.mp3', 'b.mp3', 'a.mp3']],
    [{ search: 'b', sortBy: { column: 'created_at', order: 'desc' } }, ['B2.mp3', 'b.mp3']],
  ] as const)
    expect([request, await list({ prefix: folder, ...request })]).toEqual([request, expected]);
  const [entry] = (await ask(supabase, `list/${audioBucket}`, { body: { prefix: folder } })).body;
  expect(entry.metadata).toMatchObject({ mimetype: 'audio/mpeg', size: alphabet.length });
  expect((await ask(supabase, `list/${audioBucket}`, { body: {} })).status).toBe(400);
});

test('an object is moved and copied with its bytes and type, but not to a name that exists', async ({ supabase }) => {
  const [first, second, third] = ['a', 'b', 'c'].map((name) => `${name}-${randomUUID()}.txt`);
  await upload(supabase, `${coversBucket}/${first}`, 'text/plain');
  const relocate = (way: string, sourceKey = '', destinationKey = '') =>
    ask(supabase, way, { body: { bucketId: coversBucket, sourceKey, destinationKey } });
  expect((await relocate('copy', first, second)).body).toEqual({
    Id: expect.any(String),
    Key: `${coversBucket}/${second}`,
  });
  expect(await codeOf(relocate('move', first, second))).toBe('400 409');
  expect((await relocate('move', first, third)).body).toEqual({ message: 'Successfully moved' });
  expect(await codeOf(relocate('move', first, third))).toBe('400 404');
  for (const [name, status] of [
    [first, 400],
    [second, 200],
    [third, 200],
  ] as const) {
    const { headers, ...found } = await ask(supabase, `public/${coversBucket}/${name}`);
    expect(found.status).toBe(status);
    if (status === 200) expect([found.body, headers.get('content-type')]).toEqual([alphabet, 'text/plain']);
  }
});

test('download names the file that a browser stores', async ({ supabase }) => {
  const name = await cover(supabase);
  const disposition = async (query: string) =>
    (await ask(supabase, `public/${coversBucket}/${name}${query}`)).headers.get('content-disposition');
  expect(await disposition('')).toBeNull();
  expect(await disposition('?download=')).toBe('attachment;');
  expect(await disposition('?download=a%20b.mp3')).toBe("attachment; filename=a%20b.mp3; filename*=UTF-8''a%20b.mp3;");
});

// test/routes/sounds-files.test.ts tests that addresses are signed and cannot be forged.

const sign = (supabase: Supabase, name: string, expiresIn: unknown = 60, as = {}) =>
  ask(supabase, `sign/${audioBucket}/${encodeURI(name)}`, { body: { expiresIn }, ...as });

async function signedUrl(supabase: Supabase, name: string, expiresIn = 60): Promise<string> {
  const { status, body } = await sign(supabase, name, expiresIn);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toEqual({ signedURL: expect.stringMatching(`^/object/sign/${audioBucket}/`) });
  return `${supabase.url}/storage/v1${encodeURI(body.signedURL)}`;
}

test('signing requires a visible object, a valid token and a whole number of seconds', async ({ supabase, skip }) => {
  const name = await audio(supabase);
  const expired = await forge(skip, { role: 'authenticated', exp: Math.floor(Date.now() / 1000) - 5 });
  const apikey = supabase.publishableKey;
  for (const [token, expected] of [
    [undefined, '400 404'],
    [expired, '400 403'],
    [`${expired.slice(0, -4)}AAAA`, '400 403'],
    ['nonsense', '400 403'],
  ] as const)
    expect(await codeOf(sign(supabase, name, 60, { apikey, token }))).toBe(expected);
  for (const expiresIn of [0, 1.5, 'a', null]) expect((await sign(supabase, name, expiresIn)).status).toBe(400);
});

test('a signed address serves type, size, ranges and Expires, without Cache-Control', async ({ supabase }) => {
  const url = await signedUrl(supabase, await audio(supabase));
  for (const [method, range, text, contentRange] of [
    ['GET', '', alphabet, null],
    ['HEAD', '', '', null],
    ['GET', 'bytes=0-4', 'abcde', 'bytes 0-4/26'],
    ['GET', 'bytes=-3', 'xyz', 'bytes 23-25/26'],
    ['GET', 'bytes=20-99', 'uvwxyz', 'bytes 20-25/26'],
  ] as const) {
    const response = await fetch(url, { method, headers: range === '' ? {} : { range } });
    expect([range, response.status, await response.text()]).toEqual([range, range === '' ? 200 : 206, text]);
    const { expires = '', ...headers } = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(text.length || alphabet.length),
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/./),
      'last-modified': expect.stringMatching(/./),
    });
    expect(headers['content-range'] ?? null).toBe(contentRange);
    expect(headers).not.toHaveProperty('cache-control');
    expect(Math.abs(Date.parse(expires) - Date.now() - 60_000)).toBeLessThan(10_000);
  }
  for (const range of ['bytes=100-', 'bytes=-0', 'bytes=0-1,4-5', 'bytes=4-1', 'lines=0-1']) {
    const response = await fetch(url, { headers: { range } });
    expect(response.status, range).toBe(416);
    expect(await response.json()).toMatchObject({ error: 'invalid_range' });
  }
});

test('a signed address is invalid after its lifetime and after its object is deleted', async ({ supabase }) => {
  const name = await audio(supabase);
  const brief = await signedUrl(supabase, name, 1);
  await expect.poll(async () => (await fetch(brief)).status).toBe(400);
  expect(await (await fetch(brief)).json()).toMatchObject({ statusCode: '400', error: 'InvalidJWT' });
  const url = await signedUrl(supabase, name);
  const gone = await ask(supabase, audioBucket, { method: 'DELETE', body: { prefixes: [name] } });
  expect(gone.body).toHaveLength(1);
  const response = await fetch(url);
  expect([response.status, await response.json()]).toMatchObject([400, { statusCode: '404' }]);
});
