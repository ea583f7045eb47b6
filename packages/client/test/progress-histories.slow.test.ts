import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AudioElement, createSounds, memoryStore, type Sounds } from '../src/index.ts';
import { createReporter } from '../src/report-position.ts';

const soundId = '50000000-0000-4000-8000-000000000001';

/** Second from which the player saves positions. */
const firstSec = 15;

interface Entry {
  sound_id: string;
  position_sec: number | null;
  updated_at: string;
}

/** Returns a text that sorts states of a sound as the service does: by time, then by position. Removals come last. */
const rankOf = ({ updated_at, position_sec }: Entry) =>
  `${updated_at} ${position_sec === null ? 'removed' : String(position_sec).padStart(5, '0')}`;

/** Implements the rule of PUT /progress for one user and one sound. `now` returns the true time. */
function createRule(now: () => number) {
  let stored: Entry | null = null;
  const statusOf = (entry: Entry) => {
    const at = Date.parse(entry.updated_at);
    if (at > now() + 300_000) return 'in_future';
    const report = { ...entry, updated_at: new Date(Math.min(at, now())).toISOString() };
    if (stored === null || rankOf(report) > rankOf(stored)) stored = report;
    return rankOf(stored) > rankOf(report) ? 'older' : 'saved';
  };
  return {
    put: ({ entries }: { entries: Entry[] }) =>
      entries.map((entry) => ({ sound_id: entry.sound_id, status: statusOf(entry) })),
    /** Implements DELETE /history: an older report does not bring the position back. */
    clear() {
      stored = { sound_id: soundId, position_sec: null, updated_at: new Date(now()).toISOString() };
    },
    list: () => (stored === null || stored.position_sec === null ? [] : [{ ...stored, sounds: null }]),
  };
}

/** Creates the player of a device. Its element stays where it was paused. */
function createPlayer({ progress }: Sounds) {
  const element = { currentTime: 0, duration: Number.POSITIVE_INFINITY, loop: false, hasAttribute: () => true };
  let saved = Promise.resolve();
  const save = (id: string, seconds: number | null) => {
    saved = progress.save(id, seconds);
    return saved;
  };
  const reporter = createReporter(element as unknown as AudioElement, soundId, { save });
  return {
    async listenTo(seconds: number) {
      reporter.listeners.playing();
      element.currentTime = seconds;
      reporter.stop();
      await saved;
    },
    /** Ends the paused player, as when another sound is played. */
    async leave() {
      reporter.stop();
      await saved;
    },
  };
}

/** Outcomes of a request: lost, received without a response, late, or received twice. */
const fates = ['ok', 'ok', 'ok', 'lost', 'unanswered', 'late', 'doubled'] as const;

const history = fc.record({
  clocksMs: fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { minLength: 2, maxLength: 3 }),
  signInsMs: fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 3, maxLength: 3 }),
  steps: fc.array(
    fc.record({
      device: fc.nat({ max: 2 }),
      gapMs: fc.oneof(fc.integer({ min: 2, max: 999 }), fc.integer({ min: 5_000, max: 600_000 })),
      act: fc.constantFrom('save', 'listen', 'leave'),
      position: fc.option(fc.integer({ min: 0, max: 3_600 }), { freq: 4 }),
      action: fc.constantFrom('nothing', 'flush', 'sync', 'restart', 'clear'),
      fate: fc.constantFrom(...fates),
      arrival: fc.nat({ max: 5 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** Plays a history. @returns the final position on each device, and the position that the user reported last */
async function replay({ clocksMs, signInsMs, steps }: History) {
  let trueMs = Date.UTC(2026, 5, 23);
  const rule = createRule(() => trueMs);
  let fate: (typeof fates)[number] = 'ok';
  let arrival = 0;
  /** Position that the user expects on each device. */
  let newest: number | null = null;
  const later: { step: number; body: { entries: Entry[] } }[] = [];

  const user = { id: 'a user', email: 'ada@example.com' };
  const seconds = () => Math.floor(trueMs / 1_000);
  const session = () => ({
    ...{ user, access_token: 'a', refresh_token: 'r', expires_at: seconds() + 86_400, expires_in: 86_400 },
  });
  async function serve(request: Request): Promise<Response> {
    const name = new URL(request.url).pathname;
    const answer = (data: unknown) => {
      const headers = { 'Content-Type': 'application/json', 'X-Service-Time': String(trueMs) };
      return new Response(JSON.stringify(data), { headers });
    };
    if (name.endsWith('/signin')) return answer({ data: session() });
    if (name.endsWith('/config')) return answer({ data: {} });
    if (fate === 'lost') throw new TypeError('lost');
    if (request.method === 'GET') return answer({ data: rule.list() });
    if (request.method === 'DELETE') {
      rule.clear();
      newest = null;
      if (fate !== 'ok') throw new TypeError('lost');
      return answer({ data: { ok: true } });
    }
    const body = (await request.json()) as { entries: Entry[] };
    if (fate === 'late' || fate === 'doubled') later.push({ step: arrival, body });
    if (fate === 'late') throw new TypeError('timeout');
    const data = rule.put(body);
    if (fate === 'unanswered') throw new TypeError('lost');
    return answer({ data });
  }
  vi.stubGlobal('fetch', serve);

  const devices = clocksMs.map((clockMs) => ({ clockMs, store: memoryStore() }));
  const apps = new Map<number, { client: Sounds; player: ReturnType<typeof createPlayer> }>();
  const start = (n: number) => {
    const { store } = devices[n] as (typeof devices)[number];
    const client = createSounds({ url: 'http://service/api/v1', store, timeLimitMs: 900 });
    const app = { client, player: createPlayer(client) };
    apps.set(n, app);
    return app;
  };
  const on = async (n: number, act: (client: Sounds, player: ReturnType<typeof createPlayer>) => Promise<unknown>) => {
    vi.setSystemTime(trueMs + (devices[n]?.clockMs ?? 0));
    const { client, player } = apps.get(n) ?? start(n);
    await act(client, player);
  };
  for (const n of devices.keys()) {
    trueMs += signInsMs[n] ?? 0;
    await on(n, (client) => client.auth.signIn({ email: '', password: '' }));
  }
  for (const { device, gapMs, act, position, action, ...network } of steps) {
    trueMs += gapMs;
    for (const each of later) if (each.step === 0) rule.put(each.body);
    for (const each of later) each.step -= 1;
    ({ fate } = network);
    arrival = network.arrival;
    await on(device % devices.length, async ({ progress, history }, player) => {
      if (act === 'save') await progress.save(soundId, position);
      if (act === 'listen') await player.listenTo(firstSec + (position ?? 0));
      if (act === 'leave') await player.leave();
      if (act !== 'leave') newest = act === 'save' ? position : firstSec + (position ?? 0);
      if (action === 'clear') await history.clear().catch(() => {});
      if (action === 'flush' || action === 'sync') await progress[action]().catch(() => {});
      if (action === 'restart') apps.delete(device % devices.length);
    });
    if (action === 'restart') await on(device % devices.length, ({ progress }) => progress.flush().catch(() => {}));
  }
  fate = 'ok';
  trueMs += 5_000;
  for (const { body } of later.reverse()) rule.put(body);
  for (const n of [...devices.keys(), ...devices.keys()]) await on(n, ({ progress }) => progress.sync());
  const positions: unknown[] = [];
  for (const n of devices.keys()) await on(n, async ({ progress }) => positions.push(await progress.of(soundId)));
  vi.clearAllTimers();
  return { positions, newest };
}

test('500 histories on bad clocks and networks end at the newest report on each device', {
  timeout: 180_000,
}, async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  vi.stubGlobal('navigator', {}); // Web Locks would take most of the time
  const seed = randomInt(2 ** 31);
  for (const [n, one] of fc.sample(history, { seed, numRuns: 500 }).entries()) {
    const { positions, newest } = await replay(one);
    expect(positions, `history ${n} of seed ${seed}`).toEqual(one.clocksMs.map(() => newest));
  }
});
