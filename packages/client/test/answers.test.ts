import { expect, vi } from 'vitest';
import type { Fault } from '../../../test/support/network.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { createSounds } from '../src/index.ts';
import { errorAnswer, fakeTimers, faultsOf, skipPause, successAnswer, test, withoutRepeats } from './device.ts';

test('a redirect is an error that names the new address, and takes no write along', async ({ device }) => {
  const { network, sent } = device;
  const api = device.again(withoutRepeats);
  network.before = ({ path }): Fault =>
    path.startsWith('/moved') ? successAnswer({ data: [] }) : { status: 307, headers: { Location: `/moved${path}` } };
  await expect(api.categories()).rejects.toThrow(/redirects to http:.*\/moved\/api\/v1\/categories:/);
  await expect(api.fetch('/categories')).rejects.toMatchObject({ code: 'no_answer' });
  sent.length = 0;
  const signIn = api.auth.signIn({ email: newEmail(), password });
  await expect(signIn).rejects.toThrow('redirects to /moved/api/v1/auth/signin:');
  expect(sent).toEqual(['POST /auth/signin']);
});

test('a redirect is found where the platform follows it and does not tell', async ({ gateway }) => {
  using fetched = vi.spyOn(globalThis, 'fetch');
  const { categories } = createSounds({ url: gateway.url, timeLimitMs: 900 });
  const answerFrom = (url: string) => {
    const answer = new Response('{"data": []}');
    for (const [name, value] of Object.entries({ url, redirected: undefined }))
      Object.defineProperty(answer, name, { value });
    fetched.mockResolvedValueOnce(answer);
  };
  answerFrom(`${gateway.url.toUpperCase()}/categories?q`);
  expect(await categories()).toEqual([]);
  answerFrom('');
  expect(await categories()).toEqual([]);
  const address = 'https://another.host/api/v1/categories';
  answerFrom(address);
  await expect(categories()).rejects.toThrow(address);
});

test('an answer without its shape is repeated', async ({ start }) => {
  const device = await start({ onWait: skipPause });
  await device.signUp();
  const { api, network, sent } = device;
  const bodies = ['', 'null', '{"sections": null}', '{"data": []}', '<html>', '{"sections": ['];
  const json = { 'Content-Type': 'application/json' };
  network.before = faultsOf('GET /home', ...bodies.map((body) => ({ status: 200, headers: json, body })));
  fakeTimers('setTimeout');
  expect(await api.home()).toBeInstanceOf(Array);
  vi.useRealTimers();
  expect(sent).toHaveLength(bodies.length + 1);
});

/** Headers of Retry-After, and the seconds that they mean. */
const pauses: [Record<string, string>, number | null][] = [
  [{ 'Retry-After': '7' }, 7],
  [{ 'Retry-After': '0' }, null],
  [{ 'Retry-After': 'soon' }, null],
  [{ 'Retry-After': '-5' }, null],
  [{ 'Retry-After': 'Tue, 23 Jun 2026 09:30:07 GMT', Date: 'Tue, 23 Jun 2026 09:30:00 GMT' }, 7],
  [{ 'Retry-After': 'Tue, 23 Jun 2026 09:29:00 GMT', Date: 'Tue, 23 Jun 2026 09:30:00 GMT' }, null],
];

test('Retry-After of any 429 or 503 is followed, in seconds or as a date', async ({ device }) => {
  const { network, sent } = device;
  const hurried = device.again(withoutRepeats);
  for (const [headers, retryAfter] of pauses)
    for (const fault of [{ status: 503, headers, body: 'down' }, errorAnswer(429, 'rate_limited', headers)]) {
      network.before = () => fault;
      await expect(hurried.me(), JSON.stringify(headers)).rejects.toMatchObject({ retryAfter });
    }
  using _random = vi.spyOn(Math, 'random').mockReturnValue(0);
  fakeTimers('setTimeout');
  sent.length = 0;
  network.before = faultsOf('GET /me', { status: 503, headers: { 'Retry-After': '7' }, body: 'down' });
  const me = device.api.me();
  await vi.waitUntil(() => sent.length === 1);
  await vi.waitUntil(() => vi.getTimerCount() > 0);
  await vi.advanceTimersByTimeAsync(6_000);
  await device.again().categories(); // an early repetition would arrive meanwhile
  expect(sent).toEqual(['GET /me', 'GET /categories']);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(await me).toMatchObject({ id: device.account.user.id });
});

test('fetch passes on a 304 and other types, and no page of a proxy', async ({ device }) => {
  const { api, network, sent } = device;
  const first = await api.fetch('/lists'); // unlike the catalogue, no other test changes it
  const headers = { 'If-None-Match': first.headers.get('ETag') ?? '' };
  expect((await api.fetch('/lists', { headers })).status).toBe(304);
  expect(await (await api.fetch('/docs/guide.md')).text()).toContain('# Building an app');
  expect((await api.fetch('/categories', { method: 'HEAD' })).status).toBe(200);
  expect(sent).toHaveLength(4);
  network.before = () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>Sign in</h1>' });
  await expect(device.again(withoutRepeats).fetch('/categories')).rejects.toMatchObject({ code: 'no_answer' });
});

test('createSounds rejects a url that no request can have, with an example', () => {
  for (const url of [undefined, null, '', 5, 'sounds.example.com/api/v1', '/api/v1', 'https://'])
    expect(() => createSounds({ url: url as string }), String(url)).toThrow(/url is .*https:.*example/);
  vi.stubGlobal('location', { origin: 'https://app.example.com' });
  createSounds({ url: '/api/v1' });
  vi.unstubAllGlobals();
});
