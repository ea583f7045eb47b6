import { randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, vi } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import { newUser, type Sql, test } from '../../../test/support/test.ts';
import { memoryStore, SoundsError } from '../src/index.ts';
import { createLists, type Lists, type ListToSave } from '../src/lists.ts';

// Runs the client's lists against the saving function in Postgres, without the gateway between them.

/** Fate of a request: `doubled` delivers it again at the end of the step, and `late` only then. */
const fates = ['answered', 'lost request', 'lost answer', 'doubled', 'late'] as const;
type Fate = (typeof fates)[number];

const fate = fc.oneof(
  { weight: 5, arbitrary: fc.constant('answered' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...fates) },
);

const step = fc.record({
  device: fc.integer({ min: 0, max: 2 }),
  action: fc.constantFrom(
    'create',
    'add',
    'add',
    'add',
    'drop',
    'move',
    'louder',
    'rename',
    'remove',
    'sync',
    'restart',
  ),
  list: fc.integer({ min: 0, max: 1 }),
  sound: fc.integer({ min: 0, max: 5 }),
  sends: fc.boolean(),
  fates: fc.array(fate, { minLength: 1, maxLength: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const noAnswer = () => new SoundsError('Made up.', { status: 0, code: 'no_answer' });

/** Reserves a connection with the role of a user of the API for the test, so that each call is a single statement. */
async function connectAs(sql: Sql, user: string): Promise<Sql> {
  const connection = await sql.reserve();
  const become = (role: string, claims: object) =>
    connection`
      select set_config('request.jwt.claims', ${JSON.stringify(claims)}, false), set_config('role', ${role}, false)`;
  await become('authenticated', { sub: user, role: 'authenticated' });
  onTestFinished(async () => {
    await become('none', {});
    connection.release();
  });
  return connection;
}

/** Makes the network of one user, whose requests meet the fates of the step. */
function createNetwork(sql: Sql) {
  const network = { fates: ['answered'] as Fate[], count: 0, sent: 0, late: [] as (() => Promise<unknown>)[] };

  async function fetch(_path: string, { body }: RequestInit = {}): Promise<Response> {
    const next = network.fates[network.count++ % network.fates.length] as Fate;
    const deliver = async () => {
      const [row] = await (typeof body === 'string'
        ? sql`select public.save_lists(${body}::text::jsonb -> 'lists') as data`
        : sql`select public.list_lists() as data`);
      return row;
    };
    if (typeof body === 'string') network.sent += 1;
    if (next === 'late' || next === 'doubled') network.late.push(deliver);
    if (next === 'lost request' || next === 'late') throw noAnswer();
    const answer = await deliver();
    if (next === 'lost answer') throw noAnswer();
    return new Response(JSON.stringify(answer));
  }

  return Object.assign(network, { fetch });
}

type Network = ReturnType<typeof createNetwork>;

/** Starts a device of the user. Without network, edits wait for the next `flush`. */
function startDevice(network: Network, user: string) {
  const stores = { store: memoryStore(), offlineStore: memoryStore() };
  const device = { isOnline: false };
  const api = {
    fetch: (path: string, init?: RequestInit) =>
      device.isOnline ? network.fetch(path, init) : Promise.reject(noAnswer()),
    auth: { user: async () => ({ id: user, email: null }) },
    session: { subscribe: () => () => {} },
    offline: { get: async () => null },
  } as unknown as Parameters<typeof createLists>[0]['api'];
  const start = () => createLists({ api, ...stores });
  return Object.assign(device, { start, lists: start() });
}

/** Applies an action to the list with a number. @returns the sounds that the device has added and removed */
async function act(lists: Lists, { action, sound }: Step, sounds: string[], found: ListToSave) {
  const id = sounds[sound] as string;
  const others = found.items.filter(({ sound_id }) => sound_id !== id);
  const isThere = others.length < found.items.length;
  const added = { sound_id: id, volume: null };
  const edits: Record<string, () => Partial<ListToSave> | undefined> = {
    add: () => (isThere ? undefined : { items: [...found.items, added] }),
    drop: () => (isThere ? { items: others } : undefined),
    move: () => ({ items: found.items.toReversed() }),
    louder: () => ({ items: found.items.map((item) => ({ ...item, volume: sound / 10 })) }),
    rename: () => ({ name: `Name ${sound}` }),
  };
  const edit = edits[action]?.();
  if (edit) await lists.save({ ...found, ...edit });
  return { id, isAdded: edit !== undefined && action === 'add', isDropped: edit !== undefined && action === 'drop' };
}

/** Plays a history of three devices. Checks that they end with the same lists, and that no addition is lost. */
async function replay(network: Network, user: string, sounds: string[], steps: Step[]) {
  const ids = [randomUUID(), randomUUID()];
  const devices = [0, 1, 2].map(() => startDevice(network, user));
  const [added, dropped, removed] = [new Set<string>(), new Set<string>(), new Set<string>()];

  for (const each of steps) {
    const device = devices[each.device] as ReturnType<typeof startDevice>;
    const listId = ids[each.list] as string;
    if (each.action === 'restart') device.lists = device.start();
    const found = (await device.lists.all()).find(({ id }) => id === listId);
    if (each.action === 'create' && !found && !removed.has(listId))
      await device.lists.save({ id: listId, name: 'Night', is_mix: false, items: [], version: 0 });
    if (each.action === 'remove' && found) {
      removed.add(listId);
      await device.lists.remove(listId);
    }
    if (found) {
      const done = await act(device.lists, each, sounds, found);
      if (done.isAdded) added.add(`${listId} ${done.id}`);
      if (done.isDropped) dropped.add(`${listId} ${done.id}`);
    }
    if (!each.sends) continue;
    Object.assign(network, { fates: each.fates, count: 0 });
    device.isOnline = true;
    await (each.action === 'sync' ? device.lists.sync() : device.lists.flush()).catch((error) =>
      expect(error.code).toBe('no_answer'),
    );
    device.isOnline = false;
    for (const deliver of network.late.splice(0)) await deliver();
  }

  Object.assign(network, { fates: ['answered'] });
  for (const round of [1, 2]) {
    network.sent = 0;
    for (const device of devices) {
      device.isOnline = true;
      await device.lists.sync();
      if (round === 2) expect(network.sent).toBe(0);
    }
  }
  const [state, ...others] = await Promise.all(devices.map(({ lists }) => lists.all()));
  for (const other of others) expect(other).toEqual(state);
  const present = new Set(state?.flatMap(({ id, items }) => items.map(({ sound_id }) => `${id} ${sound_id}`)));
  const lost = [...added].filter(
    (each) => !present.has(each) && !dropped.has(each) && !removed.has(each.split(' ')[0] ?? ''),
  );
  expect(lost).toEqual([]);
}

test.for([1, 2, 3, 4])(
  '250 histories of three devices, part %i, end with the same lists and no lost addition',
  { timeout: 300_000 },
  async (part, { gateway, sql }) => {
    const { user } = await newUser(gateway);
    const sounds = await addSounds(sql, Array(6).fill({}));
    vi.stubGlobal('navigator', {}); // Web Locks would take most of the time
    onTestFinished(() => void vi.unstubAllGlobals());
    const seed = randomInt(2 ** 31);
    onTestFinished(({ task }) => {
      if (task.result?.state === 'fail') console.log(`Seed of part ${part}: ${seed}`);
    });
    const asUser = await connectAs(sql, user.id);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        await sql`delete from public.lists where user_id = ${user.id}`;
        await replay(createNetwork(asUser), user.id, sounds, steps);
      }),
      { seed, numRuns: 250, endOnFailure: true },
    );
  },
);
