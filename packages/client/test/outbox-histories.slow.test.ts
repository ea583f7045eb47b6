import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { foreignAnswers } from '../../../test/support/foreign-answers.ts';
import { createSounds, memoryStore, type Sounds } from '../src/index.ts';
import { type Fate, largeSound, startSmallService } from './small-service.ts';

const ids = [1, 2, 3].map((n) => `50000000-0000-4000-8000-00000000000${n}`);
const gone = '60000000-0000-4000-8000-000000000000';

/** Error responses in the envelope of the service that reject no entry. */
const enveloped = [
  [400, 'invalid_request', 'https_required'],
  [400, 'invalid_request', 'validation'],
  [400, 'invalid_request', 'a_reason_of_tomorrow'],
  [404, 'not_found', 'no_such_path'],
  [405, 'not_found', 'no_such_method'],
  [418, 'a_code_of_tomorrow', ''],
  [429, 'rate_limited', 'limit_requests'],
  [500, 'server_error', ''],
].map(([status, code, reason]) => ({
  status: Number(status),
  headers: { 'Content-Type': 'application/json', 'X-Error-Reason': String(reason) },
  body: JSON.stringify({ error: { code, message: 'Made up.' } }),
}));

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('answered' as const) },
  { weight: 2, arbitrary: fc.constant('lost answer' as const) },
  { weight: 2, arbitrary: fc.constant('late' as const) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...foreignAnswers.map(({ status, headers, body }) => ({ status, headers, body }))),
  },
  { weight: 1, arbitrary: fc.constantFrom(...enveloped) },
);

const step = fc.record({
  action: fc.constantFrom('add', 'remove', 'play', 'save', 'drop', 'restart'),
  /** Id of a sound, of a sound that does not exist, or an invalid id. */
  id: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.constantFrom(gone, 'no id') },
  ),
  flushes: fc.boolean(),
  fates: fc.array(fate, { minLength: 1, maxLength: 3 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type Service = Awaited<ReturnType<typeof startSmallService>>;

/** Plays a history on one device. @returns what the service has at the end, and what the user did */
async function replay(service: Service, steps: Step[]) {
  service.reset();
  service.decide(() => 'answered');
  const store = memoryStore();
  const start = () => createSounds({ url: service.url, store, timeLimitMs: 900 });
  let api = start();
  await api.auth.signIn({ email: '', password: '' });
  const favorites = new Set<string>();
  const plays: string[] = [];
  const positions = new Map<string, number>();
  const isKnown = (id: string) => ids.includes(id);

  const act: Record<Step['action'], (id: string, n: number) => void | Promise<void>> = {
    async add(id) {
      if (isKnown(id)) favorites.add(id);
      await api.favorites.add(id);
    },
    async remove(id) {
      favorites.delete(id);
      await api.favorites.remove(id);
    },
    async play(id) {
      if (isKnown(id)) plays.push(id);
      await api.plays.record(id);
    },
    async save(id, n) {
      if (isKnown(id)) positions.set(id, 100 + n);
      await api.progress.save(id, 100 + n);
    },
    async drop(id) {
      positions.delete(id);
      await api.progress.save(id, null);
    },
    restart() {
      api = start();
    },
  };
  for (const [n, { action, id, flushes, fates }] of steps.entries()) {
    vi.setSystemTime(Date.now() + 1_000);
    let request = 0;
    service.decide(() => fates[request++ % fates.length] as Fate);
    await act[action](id, n);
    if (flushes) await Promise.allSettled(outboxesOf(api).map(({ flush }) => flush()));
  }
  service.decide(() => 'answered');
  const refusals = await flushAll(start());
  expect(refusals).toBeLessThanOrEqual(steps.filter(({ id }) => id === 'no id').length);
  expect(await flushAll(api)).toBeLessThanOrEqual(3);
  const unsent = await Promise.all(
    ['favorites', 'plays', 'progress'].map((name) => store.getItem(`sounds.${name}.a user`)),
  );
  const state = (liked: Set<string>, played: string[], at: Map<string, number | null>) => ({
    ...{ favorites: [...liked].sort(), plays: played.sort() },
    positions: [...at].filter(([, seconds]) => seconds !== null).sort(([a], [b]) => (a < b ? -1 : 1)),
  });
  const heard = [...service.plays.values()].map(({ sound_id }) => sound_id);
  const at = new Map([...service.positions.values()].map((entry) => [entry.sound_id, entry.position_sec]));
  return {
    unsent,
    found: state(service.favorites, heard, at),
    wanted: state(favorites, plays, positions),
  };
}

const outboxesOf = (api: Sounds) => [api.favorites, api.plays, api.progress];

/** Sends everything. @returns the number of outboxes with a rejected entry */
async function flushAll(api: Sounds): Promise<number> {
  const results = await Promise.allSettled(outboxesOf(api).map(({ flush }) => flush()));
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  for (const reason of reasons) expect(reason).toMatchObject({ reason: 'validation', field: expect.any(String) });
  return reasons.length;
}

test('500 histories among foreign, lost and late answers end with what the user did', {
  timeout: 300_000,
}, async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.stubGlobal('navigator', {}); // Web Locks would take most of the time
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const service = await startSmallService();
  for (const id of ids) service.sounds.add(id);
  const seed = randomInt(2 ** 31);
  const histories = fc.sample(fc.array(step, { minLength: 1, maxLength: 12 }), { seed, numRuns: 500 });
  for (const [n, steps] of histories.entries()) {
    const { unsent, found, wanted } = await replay(service, steps);
    expect([unsent, found], `history ${n} of seed ${seed}`).toEqual([[null, null, null], wanted]);
  }
});

test('an outbox halves a request that is too large, and tells of an entry that is too large', async () => {
  const service = await startSmallService();
  for (const id of ids) service.sounds.add(id);
  const { auth, plays } = createSounds({ url: service.url, store: memoryStore() });
  await auth.signIn({ email: '', password: '' });
  const heard = () => [...service.plays.values()].map(({ sound_id }) => sound_id).sort();
  for (const id of [...ids, largeSound]) await plays.record(id);
  await expect(plays.flush()).rejects.toMatchObject({ reason: 'too_large' });
  expect(heard()).toEqual(ids);
  await plays.flush(); // nothing is left

  let requests = 0;
  const ofProxy = { status: 413, headers: { 'Content-Type': 'text/html' }, body: '<h1>Too large</h1>' };
  service.decide(() => (requests++ < 2 ? ofProxy : 'answered'));
  for (const id of ids) await plays.record(id);
  await plays.flush();
  expect(heard()).toEqual([...ids, ...ids].sort());
  expect(requests).toBe(5); // 3, the half of 2, and each alone
});
