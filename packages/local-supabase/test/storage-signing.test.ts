import { expect } from 'vitest';
import { forge } from '../../../test/support/forge.ts';
import { AUDIO, ask, audio, TEXT, useBuckets } from './buckets.ts';
import { codeOf, type Supabase, test } from './supabase.ts';

// test/routes/sounds-files.test.ts shows how addresses are signed and cannot be forged.

useBuckets();

const sign = (supabase: Supabase, name: string, expiresIn: unknown = 60, as = {}) =>
  ask(supabase, `sign/${AUDIO}/${encodeURI(name)}`, { body: { expiresIn }, ...as });

async function signedUrl(supabase: Supabase, name: string, expiresIn = 60): Promise<string> {
  const { status, body } = await sign(supabase, name, expiresIn);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toEqual({ signedURL: expect.stringMatching(`^/object/sign/${AUDIO}/`) });
  return `${supabase.url}/storage/v1${encodeURI(body.signedURL)}`;
}

test('signing requires a visible object, a valid token and a whole number of seconds', async ({
  supabase,
  skip,
}) => {
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
  for (const expiresIn of [0, 1.5, 'a', null])
    expect((await sign(supabase, name, expiresIn)).status).toBe(400);
});

test('a signed address serves type, size, range and expiry without Cache-Control', async ({ supabase }) => {
  const url = await signedUrl(supabase, await audio(supabase));
  for (const [method, range, text, contentRange] of [
    ['GET', '', TEXT, null],
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
      'content-length': String(text.length || TEXT.length),
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

test('a signed address ends with its lifetime and with its object', async ({ supabase }) => {
  const name = await audio(supabase);
  const brief = await signedUrl(supabase, name, 1);
  await expect.poll(async () => (await fetch(brief)).status).toBe(400);
  expect(await (await fetch(brief)).json()).toMatchObject({ statusCode: '400', error: 'InvalidJWT' });
  const url = await signedUrl(supabase, name);
  const gone = await ask(supabase, AUDIO, { method: 'DELETE', body: { prefixes: [name] } });
  expect(gone.body).toHaveLength(1);
  const response = await fetch(url);
  expect([response.status, await response.json()]).toMatchObject([400, { statusCode: '404' }]);
});
