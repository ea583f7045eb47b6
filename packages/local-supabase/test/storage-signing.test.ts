import { describe, expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { AUDIO, audio, TEXT, useBuckets } from './buckets.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

useBuckets();

const sign = (supabase: Supabase, name: string, body: object = { expiresIn: 60 }, as = {}) =>
  supabase.call(`/storage/v1/object/sign/${AUDIO}/${encodeURI(name)}`, {
    apikey: supabase.secretKey,
    body,
    ...as,
  });

async function signedUrl(supabase: Supabase, name: string, expiresIn = 60): Promise<string> {
  const { status, body } = await sign(supabase, name, { expiresIn });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(Object.keys(body)).toEqual(['signedURL']);
  expect(body.signedURL.startsWith(`/object/sign/${AUDIO}/`)).toBe(true);
  return `${supabase.url}/storage/v1${encodeURI(body.signedURL)}`;
}

test('signing answers a missing object or bucket with 400 and the status 404 in the body', async ({
  supabase,
}) => {
  const elsewhere = supabase.call('/storage/v1/object/sign/compat-none/a.mp3', {
    apikey: supabase.secretKey,
    body: { expiresIn: 60 },
  });
  for (const { status, body } of [await sign(supabase, 'no.mp3'), await elsewhere]) {
    expect(status).toBe(400);
    expect(body).toMatchObject({ statusCode: '404', error: 'not_found', message: 'Object not found' });
  }
});

test('signing is denied without a policy, and with an expired or forged token', async ({
  supabase,
  skip,
}) => {
  const name = await audio(supabase);
  const { accessToken } = await supabase.signUp();
  const expired = await forge(skip, { role: 'authenticated', exp: Math.floor(Date.now() / 1000) - 5 });
  for (const [as, expected] of [
    [{}, '400 404'],
    [{ token: accessToken }, '400 404'],
    [{ token: expired }, '400 403'],
    [{ token: `${expired.slice(0, -4)}AAAA` }, '400 403'],
    [{ token: 'nonsense' }, '400 403'],
  ] as const) {
    const apikey = supabase.publishableKey;
    expect(await codeOf(sign(supabase, name, undefined, { apikey, ...as }))).toBe(expected);
  }
});

test('signing requires a positive whole number of seconds', async ({ supabase }) => {
  const name = await audio(supabase);
  for (const body of [{ expiresIn: 0 }, { expiresIn: -1 }, { expiresIn: 1.5 }, { expiresIn: 'a' }, {}])
    expect((await sign(supabase, name, body)).status).toBe(400);
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

describe('signed addresses', () => {
  test('a signed address serves type, size and expiry without Cache-Control', async ({ supabase }) => {
    const url = await signedUrl(supabase, await audio(supabase));
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method });
      expect([response.status, await response.text()]).toEqual([200, method === 'GET' ? TEXT : '']);
      const { expires = '', ...headers } = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        'content-type': 'audio/mpeg',
        'content-length': String(TEXT.length),
        'accept-ranges': 'bytes',
        etag: expect.stringMatching(/./),
        'last-modified': expect.stringMatching(/./),
      });
      expect(headers).not.toHaveProperty('cache-control');
      expect(Math.abs(Date.parse(expires) - Date.now() - 60_000)).toBeLessThan(10_000);
    }
  });

  test('a signed address serves one range, and answers 416 for others', async ({ supabase }) => {
    const url = await signedUrl(supabase, await audio(supabase));
    for (const [range, text, contentRange] of [
      ['bytes=0-4', 'abcde', 'bytes 0-4/26'],
      ['bytes=20-', 'uvwxyz', 'bytes 20-25/26'],
      ['bytes=-3', 'xyz', 'bytes 23-25/26'],
      ['bytes=20-99', 'uvwxyz', 'bytes 20-25/26'],
    ] as const) {
      const response = await fetch(url, { headers: { range } });
      expect([range, response.status, await response.text()]).toEqual([range, 206, text]);
      expect(response.headers.get('content-range')).toBe(contentRange);
      expect(response.headers.get('content-length')).toBe(String(text.length));
    }
    for (const range of ['bytes=100-', 'bytes=-0', 'bytes=0-1,4-5', 'bytes=4-1', 'bytes=a-b', 'lines=0-1']) {
      const response = await fetch(url, { headers: { range } });
      expect(response.status, range).toBe(416);
      expect(await response.json()).toMatchObject({ error: 'invalid_range' });
    }
  });

  test('a signed address is rejected if it was changed, is of another object or has no token', async ({
    supabase,
  }) => {
    const [one, other] = [await audio(supabase), await audio(supabase)];
    const token = new URL(await signedUrl(supabase, one)).searchParams.get('token') ?? '';
    for (const bad of [
      `${one}?token=${token.slice(0, -4)}AAAA`,
      `${one}?token=nonsense`,
      one,
      `${other}?token=${token}`,
    ]) {
      const response = await fetch(`${supabase.url}/storage/v1/object/sign/${AUDIO}/${encodeURI(bad)}`);
      await response.body?.cancel();
      expect(response.status, bad).toBe(400);
    }
  });

  test('a signed address ends with its lifetime and with its object', async ({ supabase }) => {
    const name = await audio(supabase);
    const brief = await signedUrl(supabase, name, 1);
    await expect.poll(async () => (await fetch(brief)).status).toBe(400);
    expect(await (await fetch(brief)).json()).toMatchObject({ statusCode: '400', error: 'InvalidJWT' });
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
