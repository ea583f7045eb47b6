import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { AUDIO, audio, COVERS, TEXT, upload, useBuckets } from './buckets.ts';
import { test } from './supabase.ts';

useBuckets();

describe('an upload', () => {
  test.for([
    ['of an allowed type', 'audio/mpeg', 'a', 200, undefined],
    ['of an exactly allowed type', 'image/png', 'a', 200, undefined],
    ['of another type', 'image/jpeg', 'a', 400, '415'],
    ['of 100 bytes', 'audio/mpeg', 'a'.repeat(100), 200, undefined],
    ['of 101 bytes', 'audio/mpeg', 'a'.repeat(101), 400, '413'],
  ] as const)(
    '%s is held against the bucket’s limits',
    async ([, type, text, expected, code], { supabase }) => {
      const { status, body } = await upload(supabase, `${AUDIO}/${randomUUID()}`, type, text);
      expect([status, body.statusCode]).toEqual([expected, code]);
    },
  );

  test('to a taken name is rejected unless it says that it replaces', async ({ supabase }) => {
    const path = `${COVERS}/${randomUUID()}.txt`;
    expect((await upload(supabase, path, 'text/plain', 'one')).status).toBe(200);
    const { status, body } = await upload(supabase, path, 'text/plain', 'two');
    expect([status, body.statusCode, body.error]).toEqual([400, '409', 'Duplicate']);
    expect((await upload(supabase, path, 'text/plain', 'three', { 'x-upsert': 'true' })).status).toBe(200);
    expect((await supabase.call(`/storage/v1/object/public/${path}`)).body).toBe('three');
  });

  test('by anybody else needs a policy', async ({ supabase }) => {
    const { accessToken: token } = await supabase.signUp();
    const { status, body } = await supabase.call(`/storage/v1/object/${COVERS}/${randomUUID()}`, {
      token,
      method: 'POST',
      body: 'mine',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect([status, body.statusCode]).toEqual([400, '403']);
  });

  test('with characters that do not survive in an address is rejected', async ({ supabase }) => {
    const { status, body } = await upload(
      supabase,
      `${COVERS}/${encodeURIComponent('ä#.txt')}`,
      'text/plain',
    );
    expect([status, body.error]).toEqual([400, 'InvalidKey']);
  });
});

describe('the public address', () => {
  test('serves a public bucket to everybody, and no private one', async ({ supabase }) => {
    const path = `${COVERS}/${randomUUID()}.txt`;
    await upload(supabase, path, 'text/plain', 'open', { 'Cache-Control': 'max-age=3600' });
    const open = await supabase.call(`/storage/v1/object/public/${path}`, { apikey: null });
    expect([open.status, open.body, open.headers.get('cache-control')]).toEqual([
      200,
      'open',
      'max-age=3600',
    ]);
    const name = await audio(supabase);
    const closed = await supabase.call(`/storage/v1/object/public/${AUDIO}/${encodeURI(name)}`, {
      apikey: null,
    });
    expect([closed.status, closed.body.statusCode]).toEqual([400, '404']);
  });
});

test('a folder is listed by what lies in it: objects and folders, without its own name', async ({
  supabase,
}) => {
  const folder = randomUUID();
  for (const name of ['b.mp3', 'a.mp3', 'deeper/c.mp3', 'deeper/d.mp3'])
    await upload(supabase, `${AUDIO}/${folder}/${name}`);
  const list = async (body: object, as: object = { apikey: supabase.secretKey }) =>
    (await supabase.call(`/storage/v1/object/list/${AUDIO}`, { ...as, body })).body;
  const entries = await list({ prefix: folder });
  expect(entries.map(({ name, id }: { name: string; id: string | null }) => [name, id !== null])).toEqual([
    ['a.mp3', true],
    ['b.mp3', true],
    ['deeper', false],
  ]);
  expect(entries[0].metadata).toMatchObject({ mimetype: 'audio/mpeg', size: TEXT.length });
  expect(await list({ prefix: `${folder}/`, limit: 1, offset: 1 })).toMatchObject([{ name: 'b.mp3' }]);
  expect(await list({ prefix: folder }, {})).toEqual([]);
});

test('nothing is told without a key', async ({ supabase }) => {
  const { status, body } = await supabase.call('/storage/v1/bucket', { apikey: null });
  expect([status, body.statusCode]).toEqual([400, '400']);
});

test('a private object is downloaded with the secret key alone', async ({ supabase }) => {
  const path = `/storage/v1/object/authenticated/${AUDIO}/${encodeURI(await audio(supabase))}`;
  expect((await supabase.call(path, { apikey: supabase.secretKey })).body).toBe(TEXT);
  const { accessToken: token } = await supabase.signUp();
  expect((await supabase.call(path, { token })).body.statusCode).toBe('404');
});

test.runIf(inject('stack').embedded)(
  'a connection is kept while a client takes its time',
  async ({ supabase }) => {
    const response = await fetch(supabase.url);
    await response.body?.cancel();
    expect(response.headers.get('keep-alive')).toBe('timeout=120');
  },
);
