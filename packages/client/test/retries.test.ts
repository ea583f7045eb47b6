import { expect, vi } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { type Fault, startNetwork } from '../../../test/support/network.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { createSounds, memoryStore, SoundsError, type Wait } from '../src/index.ts';
import { errorAnswer, fakeTimers, faultsOf, nameOf, pass, skipPause, test, withoutRepeats } from './device.ts';

/** Response that ends too early. */
const broken: Fault = {
  status: 200,
  headers: { 'Content-Type': 'application/json', 'Content-Length': '1000', Connection: 'close' },
  body: '{"data": [',
};

const tooMany = (seconds: number, headers = {}) =>
  errorAnswer(429, 'rate_limited', { 'Retry-After': String(seconds), ...headers });

test('a request is repeated after a failure, unless it must not take effect twice', async ({ start }) => {
  const device = await start({ onWait: skipPause });
  const account = await device.signUp();
  const { api, network, sent } = device;
  fakeTimers('setTimeout');
  const faults = new Map<string, Fault>([
    ['GET /me', 'cut'],
    ['GET /sounds', broken],
    ['GET /home', 502],
    ['GET /me/customer', errorAnswer(500, 'server_error')],
  ]);
  const reads = [...faults.keys()];
  const changes = ['POST /auth/signup', 'POST /auth/verify'];
  faults.set('POST /auth/signup', 'cut').set('POST /auth/verify', errorAnswer(500, 'server_error'));
  network.before = (request) => {
    const fault = faults.get(nameOf(request));
    faults.delete(nameOf(request));
    return fault;
  };
  const code = { type: 'recovery', email: account.email, code: '123456' } as const;
  await Promise.all([
    ...[api.me(), api.sounds.page(), api.home(), api.customer.get()],
    expect(api.auth.signUp({ email: newEmail(), password })).rejects.toMatchObject({ code: 'no_answer' }),
    expect(api.auth.verify(code)).rejects.toMatchObject({ code: 'server_error' }),
  ]);
  expect(sent.toSorted()).toEqual([...reads, ...reads, ...changes].toSorted());

  // api.fetch follows the same rules.
  sent.length = 0;
  network.before = faultsOf('GET /me', 'cut');
  expect(await (await api.fetch('/me')).json()).toMatchObject({ data: { id: account.user.id } });
  network.before = faultsOf('POST /plays', 'cut');
  const sending = api.fetch('/plays', { method: 'POST', body: '{"plays": []}' });
  await expect(sending).rejects.toMatchObject({ code: 'no_answer' });
  expect(sent).toEqual(['GET /me', 'GET /me', 'POST /plays']);
});

test('onWait reports each pause, which doubles or lasts as long as the service requires', async ({ start }) => {
  using _random = vi.spyOn(Math, 'random').mockReturnValue(0);
  const waits: (Wait & { ms: number })[] = [];
  const onWait = (wait: Wait) => {
    waits.push({ ...wait, ms: wait.until.getTime() - Date.now() });
    skipPause(wait);
  };
  const { api, network } = await start({ onWait });
  fakeTimers('setTimeout', 'Date');
  const limited = faultsOf('POST /auth/signup', tooMany(3));
  const failing = faultsOf('GET /categories', 'cut', 'cut');
  const left: number[] = [];
  network.before = (request) => {
    left.push(Date.now());
    return limited(request) ?? failing(request);
  };
  await api.auth.signUp({ email: newEmail(), password });
  await api.categories();
  const seconds = waits.map(({ reason, ms }) => `${reason} ${Math.round(ms / 1_000)}`);
  expect(seconds).toEqual(['limited 3', 'retrying 1', 'retrying 2']);
  const repeats = [left[1], left[3], left[4]];
  for (const [n, { until }] of waits.entries()) expect(repeats[n]).toBeGreaterThanOrEqual(until.getTime());
});

test('a request is not repeated after a rejection or beyond the time limit', async ({ device }) => {
  const { api, network, sent } = device;
  await expect(api.sounds.page({ limit: 0 })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    message: expect.stringContaining('limit'),
    field: 'limit',
    requestId: expect.stringMatching(/./),
    retryAfter: null,
  });
  await expect(api.auth.signIn({ email: newEmail(), password })).rejects.toMatchObject({ status: 401 });

  const headers = { 'X-Request-Id': 'a-request', 'X-Error-Reason': 'limit_mails' };
  network.before = faultsOf('POST /auth/recover', tooMany(1800, headers));
  const error = await api.auth.recover({ email: newEmail() }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(SoundsError);
  const details = { reason: 'limit_mails', field: null, requestId: 'a-request', retryAfter: 1800 };
  expect(error).toMatchObject({ status: 429, code: 'rate_limited', message: 'Made up.', ...details });
  // A wrong password does not cause a refresh.
  expect(sent).toEqual(['GET /sounds', 'POST /auth/signin', 'POST /auth/recover']);

  const hurried = device.again(withoutRepeats);
  sent.length = 0;
  for (const fault of [new Promise<Fault>(() => {}), 'cut' as const]) {
    network.before = () => fault;
    const noAnswer = { name: 'SoundsError', status: 0, code: 'no_answer', requestId: null };
    await expect(hurried.me()).rejects.toMatchObject(noAnswer);
  }
  expect(sent).toEqual(['GET /me', 'GET /me']);
});

test('a signal ends a list, or a call before, during and between attempts', async ({ start, sql }) => {
  const reason = new Error('The screen is closed.');
  let caller = new AbortController();
  const { api, network, sent, signUp } = await start({ onWait: () => caller.abort(reason) });
  await signUp();
  await expect(api.me({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(sent).toEqual([]);

  network.before = () => {
    caller.abort(reason);
    return new Promise(() => {});
  };
  await expect(api.me({ signal: caller.signal })).rejects.toBe(reason);
  caller = new AbortController();
  network.before = () => tooMany(50);
  await expect(api.me({ signal: caller.signal })).rejects.toBe(reason);
  expect(sent).toEqual(['GET /me', 'GET /me']);

  await addSounds(sql, [{}, {}]);
  caller = new AbortController();
  network.before = pass;
  const read = async () => {
    for await (const _ of api.sounds.list({ limit: 1 }, { signal: caller.signal })) caller.abort();
  };
  await expect(read()).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent.slice(2)).toEqual(['GET /sounds']);
});

test('the export has 65 seconds and one attempt', async ({ device }) => {
  const { network, sent } = device;
  const api = device.again(withoutRepeats);
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<Fault>();
  network.before = () => {
    arrived.resolve();
    return held.promise;
  };
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const slow = api.export();
  await arrived.promise;
  await vi.advanceTimersByTimeAsync(64_000);
  held.resolve(undefined);
  expect(await slow).toMatchObject({ favorites: [] });

  network.before = () => new Promise(() => {});
  const endless = expect(api.export()).rejects.toMatchObject({ code: 'no_answer' });
  await expect.poll(() => sent.length).toBe(2);
  await vi.advanceTimersByTimeAsync(65_000);
  await endless;
  vi.useRealTimers();
  network.before = () => 500;
  await expect(api.export()).rejects.toMatchObject({ code: 'no_answer' });
  expect(sent).toEqual(Array(3).fill('GET /me/export'));
});

test('the address of the service may end with slashes', async ({ gateway }) => {
  const { url } = await startNetwork(new URL(gateway.url).origin, pass);
  for (const end of ['', '/', '//']) {
    const api = createSounds({ url: `${url}/api/v1${end}`, store: memoryStore() });
    await api.auth.signUp({ email: newEmail(), password });
    expect((await api.fetch('/me')).status).toBe(200);
    expect((await api.fetch('//me')).status).toBe(200);
    expect(await api.categories()).toBeInstanceOf(Array);
  }
});
