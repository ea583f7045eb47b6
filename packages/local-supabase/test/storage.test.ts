import { hash, randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { AUDIO, ask, audio, COVERS, cover, TEXT, upload, useBuckets } from './buckets.ts';
import { codeOf, test } from './supabase.ts';

useBuckets();

test('an upload is limited to the types and the size that its bucket allows', async ({ supabase }) => {
  for (const [type, size, expected] of [
    ['audio/mpeg', 100, undefined],
    ['audio/mpeg', 101, '413'],
    ['text/plain', 1, undefined],
    ['image/jpeg', 1, '415'],
    ['audio/mpeg; charset=utf-8', 1, '415'],
    ['Audio/MPEG', 1, '415'],
  ] as const) {
    const { body } = await upload(supabase, `${AUDIO}/${randomUUID()}`, type, 'a'.repeat(size));
    expect([type, size, body.statusCode]).toEqual([type, size, expected]);
  }
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

test('a signed upload stores one file at its address, once, and never in place of another', async ({
  supabase,
}) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  const sign = (name: string) => ask(supabase, `upload/sign/${name}`, { method: 'POST', body: {} });
  const { body: signed } = await sign(path);
  expect(signed).toEqual({
    url: `/object/upload/sign/${path}?token=${signed.token}`,
    token: expect.any(String),
  });
  const headers = { 'Content-Type': 'text/plain' };
  const put = (address: string) =>
    supabase.call(`/storage/v1${address}`, { apikey: null, method: 'PUT', body: TEXT, headers });
  const elsewhere = signed.url.replace(path, `${COVERS}/${randomUUID()}.txt`);
  expect((await put(elsewhere)).body).toMatchObject({ statusCode: '400', error: 'InvalidSignature' });
  expect((await put(signed.url)).body).toEqual({ Key: path });
  expect((await ask(supabase, `public/${path}`)).body).toBe(TEXT);
  expect((await put(signed.url)).body.statusCode).toBe('409');
  expect((await sign(path)).body.statusCode).toBe('409');
});

test('every route rejects a name with other characters as InvalidKey', async ({ supabase }) => {
  const name = 'ä#.txt';
  const path = encodeURIComponent(name);
  const relocation = { bucketId: COVERS, sourceKey: await cover(supabase), destinationKey: name };
  const answers = [
    await upload(supabase, `${COVERS}/${path}`, 'text/plain'),
    await ask(supabase, `sign/${COVERS}/${path}`, { body: { expiresIn: 60 } }),
    await ask(supabase, `upload/sign/${COVERS}/${path}`, { body: {} }),
    await ask(supabase, 'move', { body: relocation }),
    await ask(supabase, 'copy', { body: relocation }),
  ];
  for (const { status, body } of answers)
    expect([status, body.statusCode, body.error]).toEqual([400, '400', 'InvalidKey']);
});

test('an upload replaces an existing object with x-upsert alone', async ({ supabase }) => {
  const path = `${COVERS}/${await cover(supabase, 'one')}`;
  const { status, body } = await upload(supabase, path, 'text/plain', 'two');
  expect([status, body.statusCode, body.error]).toEqual([400, '409', 'Duplicate']);
  await upload(supabase, path, 'text/plain', 'three', { 'x-upsert': 'true' });
  expect((await ask(supabase, `public/${path}`)).body).toBe('three');
});

test('the tag of a file is its MD5, also of a copy, and gets 304', async ({ supabase }) => {
  const etag = `"${hash('md5', TEXT)}"`;
  const get = (name: string, headers = {}) => ask(supabase, `public/${COVERS}/${name}`, { headers });
  const name = await cover(supabase);
  const body = { bucketId: COVERS, sourceKey: name, destinationKey: `copy-${name}` };
  expect((await ask(supabase, 'copy', { body })).body.Key).toBe(`${COVERS}/copy-${name}`);
  for (const each of [name, `copy-${name}`]) expect((await get(each)).headers.get('etag')).toBe(etag);
  const same = await get(name, { 'If-None-Match': etag });
  expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', etag]);
  expect((await get(name, { 'If-None-Match': '"other"' })).body).toBe(TEXT);
});

test('a move to another bucket keeps the row and gives it a new version and time', async ({ supabase }) => {
  const name = await cover(supabase);
  const rows = () =>
    supabase.sql`select id, version, metadata from storage.objects where name like ${`%${name}`}`;
  const [before] = await rows();
  const body = {
    bucketId: COVERS,
    sourceKey: name,
    destinationBucket: AUDIO,
    destinationKey: `moved/${name}`,
  };
  const moved = { message: 'Successfully moved', Id: before?.['id'], Key: `moved/${name}` };
  expect((await ask(supabase, 'move', { body })).body).toEqual(moved);
  const [after] = await rows();
  expect(after?.['version']).not.toBe(before?.['version']);
  const { lastModified, ...kept } = before?.['metadata'] ?? {};
  expect(after?.['metadata']).toMatchObject(kept);
  expect(after?.['metadata'].lastModified).not.toBe(lastModified);
  expect((await ask(supabase, `authenticated/${AUDIO}/moved/${name}`)).body).toBe(TEXT);
});

test('a move or deletion is rejected for a missing file or bucket, a move for a taken name', async ({
  supabase,
}) => {
  const [sourceKey, taken] = [await cover(supabase), await cover(supabase)];
  for (const [changed, expected] of [
    [{ sourceKey: 'missing', destinationKey: 'a' }, '404'],
    [{ destinationBucket: 'missing', destinationKey: 'a' }, '404'],
    [{ destinationKey: taken }, '409'],
  ] as const) {
    const body = { bucketId: COVERS, sourceKey, ...changed };
    expect((await ask(supabase, 'move', { body })).body.statusCode).toBe(expected);
  }
  const remove = () => ask(supabase, `${COVERS}/${taken}`, { method: 'DELETE' });
  expect((await remove()).body).toEqual({ message: 'Successfully deleted' });
  expect((await ask(supabase, `public/${COVERS}/${taken}`)).body.statusCode).toBe('404');
  expect((await remove()).body.statusCode).toBe('404');
});

test('the public address serves a public bucket to everybody, and no private one', async ({ supabase }) => {
  const path = `${COVERS}/${randomUUID()}.txt`;
  await upload(supabase, path, 'text/plain', 'open', { 'Cache-Control': 'max-age=3600' });
  for (const [query, disposition] of [
    ['', null],
    ['?download=', 'attachment;'],
    ['?download=Rain%20%231.mp3', "attachment; filename=Rain%20%231.mp3; filename*=UTF-8''Rain%20%231.mp3"],
  ] as const) {
    const { status, body, headers } = await ask(supabase, `public/${path}${query}`, { apikey: null });
    expect([status, body, headers.get('cache-control')]).toEqual([200, 'open', 'max-age=3600']);
    expect(headers.get('content-disposition')).toBe(disposition);
    if (inject('stack').embedded) expect(headers.get('keep-alive')).toBe('timeout=120');
  }
  expect(await codeOf(supabase.call('/storage/v1/bucket', { apikey: null }))).toBe('400 400');
  expect(await codeOf(ask(supabase, `public/${AUDIO}/${encodeURI(await audio(supabase))}`))).toBe('400 404');
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
    [{ prefix: `${folder}/` }, ['a.mp3', 'b.mp3', 'B2.mp3', 'deeper/']],
    [{ limit: 1, offset: 1 }, ['b.mp3']],
    [{ search: 'b' }, ['b.mp3', 'B2.mp3']],
    [{ search: 'deeper/' }, ['deeper/c.mp3', 'deeper/d.mp3']],
    [{ sortBy: { column: 'name', order: 'desc' } }, ['deeper/', 'B2.mp3', 'b.mp3', 'a.mp3']],
    [{ sortBy: created }, ['deeper/', 'B2.mp3', 'a.mp3', 'b.mp3']],
  ] as const)
    expect([request, await list({ prefix: folder, ...request })]).toEqual([request, expected]);
  const [entry] = (await ask(supabase, `list/${AUDIO}`, { body: { prefix: folder } })).body;
  expect(entry.metadata).toMatchObject({ mimetype: 'audio/mpeg', size: TEXT.length });
  expect((await ask(supabase, `list/${AUDIO}`, { body: {} })).status).toBe(400);
});
