import { describe, expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { AUDIO, audio, TEXT, useBuckets } from './buckets.ts';
import { type Supabase, test } from './supabase.ts';

useBuckets();

const sign = (supabase: Supabase, name: string, body: object = { expiresIn: 60 }, as = {}) =>
  supabase.call(`/storage/v1/object/sign/${AUDIO}/${encodeURI(name)}`, {
    apikey: supabase.secretKey,
    body,
    ...as,
  });

async function signedUrl(supabase: Supabase, name: string): Promise<string> {
  const { status, body } = await sign(supabase, name);
  expect(status, JSON.stringify(body)).toBe(200);
  return `${supabase.url}/storage/v1${encodeURI(body.signedURL)}`;
}

describe('signing', () => {
  test('returns an address relative to the API, which downloads the object', async ({ supabase }) => {
    const name = await audio(supabase);
    const { body } = await sign(supabase, name);
    expect(Object.keys(body)).toEqual(['signedURL']);
    expect(body.signedURL.startsWith(`/object/sign/${AUDIO}/`)).toBe(true);
    const response = await fetch(`${supabase.url}/storage/v1${encodeURI(body.signedURL)}`);
    expect([response.status, await response.text()]).toEqual([200, TEXT]);
  });

  test('answers a missing object with 400 and the status 404 in the body', async ({ supabase }) => {
    const missing = await sign(supabase, 'no.mp3');
    const elsewhere = await supabase.call('/storage/v1/object/sign/compat-none/a.mp3', {
      apikey: supabase.secretKey,
      body: { expiresIn: 60 },
    });
    for (const { status, body } of [missing, elsewhere]) {
      expect(status).toBe(400);
      expect(body).toMatchObject({ statusCode: '404', error: 'not_found', message: 'Object not found' });
    }
  });

  test('is denied to users without a policy', async ({ supabase }) => {
    const name = await audio(supabase);
    const { accessToken: token } = await supabase.signUp();
    for (const as of [{ apikey: supabase.publishableKey }, { apikey: supabase.publishableKey, token }]) {
      const { status, body } = await sign(supabase, name, undefined, as);
      expect([status, body.statusCode]).toEqual([400, '404']);
    }
  });

  test('requires a positive whole number of seconds', async ({ supabase }) => {
    const name = await audio(supabase);
    for (const body of [{ expiresIn: 0 }, { expiresIn: -1 }, { expiresIn: 1.5 }, { expiresIn: 'a' }, {}]) {
      expect((await sign(supabase, name, body)).status).toBe(400);
    }
  });

  test('rejects expired and forged tokens', async ({ supabase, skip }) => {
    const name = await audio(supabase);
    const exp = Math.floor(Date.now() / 1000) - 5;
    const expired = await forge(skip, { role: 'authenticated', exp });
    for (const token of [expired, `${expired.slice(0, -4)}AAAA`, 'nonsense']) {
      const { status, body } = await sign(supabase, name, undefined, {
        apikey: supabase.publishableKey,
        token,
      });
      expect([status, body.statusCode]).toEqual([400, '403']);
    }
  });
});

test('signing many objects lists missing and hidden ones with an error, in order', async ({ supabase }) => {
  const name = await audio(supabase);
  const signMany = (as: object, body: object) =>
    supabase.call(`/storage/v1/object/sign/${AUDIO}`, { ...as, body: { expiresIn: 60, ...body } });
  const error = 'Either the object does not exist or you do not have access to it';
  const { status, body } = await signMany({ apikey: supabase.secretKey }, { paths: ['no.mp3', name] });
  expect([status, body]).toEqual([
    200,
    [
      { path: 'no.mp3', signedURL: null, error },
      { path: name, signedURL: expect.stringContaining(`/object/sign/${AUDIO}/`), error: null },
    ],
  ]);
  expect(await (await fetch(`${supabase.url}/storage/v1${encodeURI(body[1].signedURL)}`)).text()).toBe(TEXT);
  const hidden = await signMany({ apikey: supabase.publishableKey }, { paths: [name] });
  expect(hidden.body).toEqual([{ path: name, signedURL: null, error }]);
  expect((await signMany({ apikey: supabase.secretKey }, { paths: [] })).status).toBe(400);
});

describe('a signed address', () => {
  test('serves type, size and expiry without Cache-Control', async ({ supabase }) => {
    const url = await signedUrl(supabase, await audio(supabase));
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(method === 'GET' ? TEXT : '');
      const { headers } = response;
      expect(headers.get('content-type')).toBe('audio/mpeg');
      expect(headers.get('content-length')).toBe(String(TEXT.length));
      expect(headers.get('accept-ranges')).toBe('bytes');
      expect(headers.get('etag')).toBeTruthy();
      expect(headers.get('last-modified')).toBeTruthy();
      expect(headers.get('cache-control')).toBeNull();
      expect(Math.abs(Date.parse(headers.get('expires') ?? '') - Date.now() - 60_000)).toBeLessThan(10_000);
    }
  });

  test.for([
    ['bytes=0-4', 206, 'abcde', 'bytes 0-4/26'],
    ['bytes=20-', 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=20-99', 206, 'uvwxyz', 'bytes 20-25/26'],
  ] as const)('serves the range %s', async ([range, status, text, contentRange], { supabase }) => {
    const response = await fetch(await signedUrl(supabase, await audio(supabase)), { headers: { range } });
    expect([response.status, await response.text()]).toEqual([status, text]);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  test.for(['bytes=100-', 'bytes=-0', 'bytes=0-1,4-5', 'bytes=4-1', 'bytes=a-b', 'lines=0-1'])(
    'answers 416 for the range %s',
    async (range, { supabase }) => {
      const url = await signedUrl(supabase, await audio(supabase));
      const response = await fetch(url, { headers: { range } });
      expect(response.status).toBe(416);
      expect(await response.json()).toMatchObject({ error: 'invalid_range' });
    },
  );

  test('is rejected if it was changed, is of another object or has no token', async ({ supabase }) => {
    const [one, other] = [await audio(supabase), await audio(supabase)];
    const url = new URL(await signedUrl(supabase, one));
    const token = url.searchParams.get('token') ?? '';
    const base = `${supabase.url}/storage/v1/object/sign/${AUDIO}`;
    for (const bad of [
      `${base}/${encodeURI(one)}?token=${token.slice(0, -4)}AAAA`,
      `${base}/${encodeURI(one)}?token=nonsense`,
      `${base}/${encodeURI(one)}`,
      `${base}/${encodeURI(other)}?token=${token}`,
    ]) {
      const response = await fetch(bad);
      await response.body?.cancel();
      expect([bad, response.status]).toEqual([bad, 400]);
    }
  });

  test('expires', async ({ supabase }) => {
    const { body } = await sign(supabase, await audio(supabase), { expiresIn: 1 });
    const url = `${supabase.url}/storage/v1${encodeURI(body.signedURL)}`;
    await expect.poll(async () => (await fetch(url)).status).toBe(400);
    expect(await (await fetch(url)).json()).toMatchObject({ statusCode: '400', error: 'InvalidJWT' });
  });

  test('answers 404 after the object was deleted', async ({ supabase }) => {
    const name = await audio(supabase);
    const url = await signedUrl(supabase, name);
    const gone = await supabase.call(`/storage/v1/object/${AUDIO}`, {
      apikey: supabase.secretKey,
      method: 'DELETE',
      body: { prefixes: [name] },
    });
    expect(gone.body).toHaveLength(1);
    const response = await fetch(url);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ statusCode: '404' });
  });
});
