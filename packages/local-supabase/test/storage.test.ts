import { hash, randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { AUDIO, audio, COVERS, TEXT, upload, useBuckets } from './buckets.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

useBuckets();

/** Calls Storage with the secret key. */
const ask = (supabase: Supabase, path: string, request: Parameters<Supabase['call']>[1] = {}) =>
  supabase.call(`/storage/v1/object/${path}`, { apikey: supabase.secretKey, ...request });

/** Uploads a text to the public bucket; returns bucket and name. */
async function cover(supabase: Supabase, text: string = TEXT): Promise<string> {
  const path = `${COVERS}/${randomUUID()}.txt`;
  expect((await upload(supabase, path, 'text/plain', text)).status).toBe(200);
  return path;
}

const rowOf = async (supabase: Supabase, path: string) => {
  const [bucket = '', ...name] = path.split('/');
  const [row] = await supabase.sql`
    select id, version, metadata from storage.objects where bucket_id = ${bucket} and name = ${name.join('/')}`;
  return row;
};

test('an upload is limited to the types and the size that its bucket allows', async ({ supabase }) => {
  const cases = [
    ['audio/mpeg', 'a', undefined],
    ['image/png', 'a', undefined],
    ['text/plain', 'a', undefined],
    ['image/jpeg', 'a', '415'],
    ['audio/mpeg; charset=utf-8', 'a', '415'],
    ['Audio/MPEG', 'a', '415'],
    ['audio/mpeg', 'a'.repeat(100), undefined],
    ['audio/mpeg', 'a'.repeat(101), '413'],
  ] as const;
  for (const [type, text, expected] of cases) {
    const { body } = await upload(supabase, `${AUDIO}/${randomUUID()}`, type, text);
    expect([type, text.length, body.statusCode]).toEqual([type, text.length, expected]);
  }
});

test('an upload replaces an existing object with x-upsert alone', async ({ supabase }) => {
  const path = await cover(supabase, 'one');
  const { status, body } = await upload(supabase, path, 'text/plain', 'two');
  expect([status, body.statusCode, body.error]).toEqual([400, '409', 'Duplicate']);
  expect((await upload(supabase, path, 'text/plain', 'three', { 'x-upsert': 'true' })).status).toBe(200);
  expect((await ask(supabase, `public/${path}`)).body).toBe('three');
});

test('users without a policy can neither upload, download, list nor delete', async ({ supabase }) => {
  const [path, name] = [await cover(supabase), encodeURI(await audio(supabase))];
  const { accessToken: token } = await supabase.signUp();
  const as = { apikey: supabase.publishableKey, token };
  const upload = { method: 'POST', body: 'mine', headers: { 'Content-Type': 'text/plain' } };
  expect(await codeOf(ask(supabase, `${COVERS}/${randomUUID()}`, { ...as, ...upload }))).toBe('400 403');
  expect(await codeOf(ask(supabase, `authenticated/${AUDIO}/${name}`, as))).toBe('400 404');
  expect((await ask(supabase, `list/${AUDIO}`, { ...as, body: { prefix: 'folder' } })).body).toEqual([]);
  expect(await codeOf(ask(supabase, path, { ...as, method: 'DELETE' }))).toBe('400 403');
  expect((await ask(supabase, `authenticated/${AUDIO}/${name}`)).body).toBe(TEXT);
});

test('an upload of a form stores its file, as supabase-js sends a Blob', async ({ supabase }) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  const body = new FormData();
  body.append('cacheControl', '60');
  body.append('', new Blob([TEXT], { type: 'text/x-note' }));
  const apikey = supabase.secretKey;
  const headers = { apikey, Authorization: `Bearer ${apikey}` };
  await fetch(`${supabase.url}/storage/v1/object/${path}`, { method: 'POST', headers, body });
  const stored = await ask(supabase, `public/${path}`);
  expect(stored.body).toBe(TEXT);
  expect(stored.headers.get('content-type')).toMatch(/^text\/x-note/);
  expect(stored.headers.get('cache-control')).toBe('max-age=60');
});

test('a signed upload stores one file at its address, once', async ({ supabase }) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  const { body: signed } = await ask(supabase, `upload/sign/${path}`, { method: 'POST', body: {} });
  expect(signed).toEqual({
    url: `/object/upload/sign/${path}?token=${signed.token}`,
    token: expect.any(String),
  });
  const put = (address: string) =>
    supabase.call(`/storage/v1${address}`, {
      apikey: null,
      method: 'PUT',
      body: TEXT,
      headers: { 'Content-Type': 'text/plain' },
    });
  const elsewhere = signed.url.replace(path, `${COVERS}/${randomUUID()}.txt`);
  expect((await put(elsewhere)).body).toMatchObject({ statusCode: '400', error: 'InvalidSignature' });
  expect((await put(signed.url)).body).toEqual({ Key: path });
  expect((await ask(supabase, `public/${path}`)).body).toBe(TEXT);
  expect((await put(signed.url)).body.statusCode).toBe('409');
});

test('an upload cannot be signed by a user without a policy, or for a taken name', async ({ supabase }) => {
  const { accessToken: token } = await supabase.signUp();
  const sign = async (path: string, as = {}) =>
    (await ask(supabase, `upload/sign/${path}`, { method: 'POST', body: {}, ...as })).body.statusCode;
  expect(await sign(`${COVERS}/${randomUUID()}`, { apikey: supabase.publishableKey, token })).toBe('403');
  expect(await sign(await cover(supabase))).toBe('409');
});

test('every route rejects a name with other characters as InvalidKey', async ({ supabase }) => {
  const name = 'ä#.txt';
  const path = encodeURIComponent(name);
  const source = await cover(supabase);
  const relocation = { bucketId: COVERS, sourceKey: source.split('/')[1], destinationKey: name };
  const answers = [
    await upload(supabase, `${COVERS}/${path}`, 'text/plain'),
    await ask(supabase, `sign/${COVERS}/${path}`, { body: { expiresIn: 60 } }),
    await ask(supabase, `upload/sign/${COVERS}/${path}`, { body: {} }),
    await ask(supabase, `public/${COVERS}/${path}`),
    await ask(supabase, 'move', { body: relocation }),
    await ask(supabase, 'copy', { body: relocation }),
  ];
  for (const { status, body } of answers)
    expect([status, body.statusCode, body.error]).toEqual([400, '400', 'InvalidKey']);
});

test('the tag of a file is its MD5, also after an equal upload, a copy and a move', async ({ supabase }) => {
  const tag = `"${hash('md5', TEXT)}"`;
  const tagOf = async (path: string) => (await ask(supabase, `public/${path}`)).headers.get('etag');
  const path = await cover(supabase);
  expect(await tagOf(path)).toBe(tag);
  const before = await rowOf(supabase, path);
  await upload(supabase, path, 'text/plain', TEXT, { 'x-upsert': 'true' });
  const after = await rowOf(supabase, path);
  expect(await tagOf(path)).toBe(tag);
  expect(after?.['id']).toBe(before?.['id']);
  expect(after?.['metadata'].lastModified).not.toBe(before?.['metadata'].lastModified);
  const relocate = (how: string, sourceKey: string) =>
    ask(supabase, how, { body: { bucketId: COVERS, sourceKey, destinationKey: `${how}-${sourceKey}` } });
  const name = path.split('/')[1] ?? '';
  expect((await relocate('copy', name)).body.Key).toBe(`${COVERS}/copy-${name}`);
  expect((await relocate('move', name)).body.Key).toBe(`move-${name}`);
  expect(await tagOf(`${COVERS}/copy-${name}`)).toBe(tag);
  expect(await tagOf(`${COVERS}/move-${name}`)).toBe(tag);
  expect(await tagOf(path)).toBeNull();
});

test('the tag of a file in If-None-Match gets 304 without a body', async ({ supabase }) => {
  const path = await cover(supabase);
  const etag = `"${hash('md5', TEXT)}"`;
  const same = await ask(supabase, `public/${path}`, { headers: { 'If-None-Match': etag } });
  expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', etag]);
  const other = await ask(supabase, `public/${path}`, { headers: { 'If-None-Match': '"other"' } });
  expect([other.status, other.body]).toEqual([200, TEXT]);
});

test('download= makes the browser save the file, under the given name', async ({ supabase }) => {
  const path = await cover(supabase);
  const disposition = async (query: string) =>
    (await ask(supabase, `public/${path}${query}`)).headers.get('content-disposition');
  expect(await disposition('')).toBeNull();
  expect(await disposition('?download=')).toBe('attachment;');
  expect(await disposition('?download=Rain%20%231.mp3')).toBe(
    "attachment; filename=Rain%20%231.mp3; filename*=UTF-8''Rain%20%231.mp3",
  );
});

test('a move to another bucket keeps the row and gives it a new version and time', async ({ supabase }) => {
  const path = await cover(supabase);
  const name = path.split('/')[1] ?? '';
  const before = await rowOf(supabase, path);
  const destinationKey = `moved/${name}`;
  const body = { bucketId: COVERS, sourceKey: name, destinationBucket: AUDIO, destinationKey };
  expect((await ask(supabase, 'move', { body })).body).toEqual({
    message: 'Successfully moved',
    Id: before?.['id'],
    Key: destinationKey,
  });
  const after = await rowOf(supabase, `${AUDIO}/${destinationKey}`);
  expect(after?.['id']).toBe(before?.['id']);
  expect(after?.['version']).not.toBe(before?.['version']);
  expect(after?.['metadata']).toEqual({ ...before?.['metadata'], lastModified: expect.any(String) });
  expect(after?.['metadata'].lastModified).not.toBe(before?.['metadata'].lastModified);
  expect((await ask(supabase, `authenticated/${AUDIO}/${destinationKey}`)).body).toBe(TEXT);
});

test('a move is rejected for a missing file, a missing bucket and a taken name', async ({ supabase }) => {
  const sourceKey = (await cover(supabase)).split('/')[1] ?? '';
  const taken = (await cover(supabase)).split('/')[1] ?? '';
  const move = async (body: object) =>
    (await ask(supabase, 'move', { body: { bucketId: COVERS, sourceKey, ...body } })).body.statusCode;
  expect(await move({ sourceKey: 'missing', destinationKey: 'a' })).toBe('404');
  expect(await move({ destinationBucket: 'missing', destinationKey: 'a' })).toBe('404');
  expect(await move({ destinationKey: taken })).toBe('409');
});

test('a single file is deleted by its address', async ({ supabase }) => {
  const path = await cover(supabase);
  const remove = () => ask(supabase, path, { method: 'DELETE' });
  expect((await remove()).body).toEqual({ message: 'Successfully deleted' });
  expect((await ask(supabase, `public/${path}`)).body.statusCode).toBe('404');
  expect((await remove()).body.statusCode).toBe('404');
});

test('the public address serves a public bucket to everybody and no private one', async ({ supabase }) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  await upload(supabase, path, 'text/plain', 'open', { 'Cache-Control': 'max-age=3600' });
  const open = await ask(supabase, `public/${path}`, { apikey: null });
  expect([open.status, open.body, open.headers.get('cache-control')]).toEqual([200, 'open', 'max-age=3600']);
  const closed = await ask(supabase, `public/${AUDIO}/${encodeURI(await audio(supabase))}`);
  expect([closed.status, closed.body.statusCode]).toEqual([400, '404']);
});

test('a folder is listed by name, searched, sorted and cut into pages', async ({ supabase }) => {
  const folder = randomUUID();
  for (const name of ['b.mp3', 'a.mp3', 'deeper/c.mp3', 'deeper/d.mp3', 'B2.mp3'])
    await upload(supabase, `${AUDIO}/${folder}/${name}`);
  const list = async (body: object) => {
    const { body: entries } = await ask(supabase, `list/${AUDIO}`, { body });
    return entries.map(({ name, id }: { name: string; id: string | null }) => (id ? name : `${name}/`));
  };
  const created = { column: 'created_at', order: 'desc' };
  for (const [request, expected] of [
    [{}, ['a.mp3', 'b.mp3', 'B2.mp3', 'deeper/']],
    [{ prefix: `${folder}/` }, ['a.mp3', 'b.mp3', 'B2.mp3', 'deeper/']],
    [{ limit: 1, offset: 1 }, ['b.mp3']],
    [{ search: 'b' }, ['b.mp3', 'B2.mp3']],
    [{ search: 'deeper/' }, ['deeper/c.mp3', 'deeper/d.mp3']],
    [{ search: 'none' }, []],
    [{ sortBy: { column: 'name', order: 'desc' } }, ['deeper/', 'B2.mp3', 'b.mp3', 'a.mp3']],
    [{ sortBy: created }, ['deeper/', 'B2.mp3', 'a.mp3', 'b.mp3']],
  ] as const)
    expect([request, await list({ prefix: folder, ...request })]).toEqual([request, expected]);
  const [entry] = (await ask(supabase, `list/${AUDIO}`, { body: { prefix: folder } })).body;
  expect(entry.metadata).toMatchObject({ mimetype: 'audio/mpeg', size: TEXT.length });
  expect((await ask(supabase, `list/${AUDIO}`, { body: {} })).status).toBe(400);
});

test('a call of Storage without a key is rejected', async ({ supabase }) => {
  expect(await codeOf(supabase.call('/storage/v1/bucket', { apikey: null }))).toBe('400 400');
});

test.runIf(inject('stack').embedded)('a connection is kept for 120 s', async ({ supabase }) => {
  const response = await fetch(supabase.url);
  await response.body?.cancel();
  expect(response.headers.get('keep-alive')).toBe('timeout=120');
});
