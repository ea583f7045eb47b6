import { randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSounds } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { clientWith, issueKey, newUser, type Sql, test } from '../support/test.ts';

const minuteMs = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

interface Entry {
  sound_id: string;
  position_sec: number | null;
  updated_at: string;
}

const at = (sound_id: string, position_sec: number | null, updated_at = ago(minuteMs)): Entry => ({
  ...{ sound_id, position_sec, updated_at },
});

async function save(app: Api, ...entries: Entry[]): Promise<string[]> {
  const { body } = await app.put('/progress').send({ entries }).expect(200);
  expect(body.data.map(({ sound_id }: Entry) => sound_id)).toEqual(entries.map(({ sound_id }) => sound_id));
  return body.data.map(({ status }: { status: string }) => status);
}

const progressOf = async (app: Api): Promise<Entry[]> => (await app.get('/progress').expect(200)).body.data;

/** Returns the positions of the caller, newest first. */
const positionsOf = async (app: Api) => (await progressOf(app)).map(({ position_sec }) => position_sec);

/** Returns the stored rows of a user, with removals. */
const storedOf = (sql: Sql, user: string) => sql`
  select sound_id, position_sec, updated_at > now() as is_ahead from public.progress where user_id = ${user}
  order by updated_at desc`;

describe('PUT /progress', () => {
  test('the newest report wins; at equal times a removal does, then the higher position', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [id = '', other = ''] = await addSounds(sql, [{ title: 'First', duration_sec: 900 }, {}]);
    const [early, late] = [ago(3 * minuteMs), ago(2 * minuteMs)];
    const steps: [Entry[], string[], (number | null)[]][] = [
      [[at(id, 5, late)], ['saved'], [5]],
      [[at(id, 9, early)], ['older'], [5]],
      [[at(id, null, early)], ['older'], [5]],
      [
        [at(id, 5, late), at(other, 0, late)],
        ['saved', 'saved'],
        [5, 0],
      ],
      [
        [at(id, 4.999, late), at(id, 6.5, late)],
        ['older', 'saved'],
        [6.5, 0],
      ],
      [[at(id, null, late), at(id, 7, late)], ['saved', 'older'], [0]],
      [[at(id, null, late)], ['saved'], [0]], // a repetition
      [[at(id, 8, late), at(id, 2, early)], ['older', 'older'], [0]],
      [
        [at(id, 86_400, ago(minuteMs)), at(id, 1, ago(minuteMs / 2))],
        ['older', 'saved'],
        [1, 0],
      ],
    ];
    for (const [entries, statuses, positions] of steps) {
      expect(await save(app, ...entries), JSON.stringify(entries)).toEqual(statuses);
      expect(new Set(await positionsOf(app))).toEqual(new Set(positions));
    }
    const first = { ...at(id, 1, expect.any(String)), sounds: { id, title: 'First', duration_sec: 900 } };
    expect((await progressOf(app))[0]).toMatchObject(first);
    expect((await progressOf(app))[1]).toMatchObject(at(other, 0, late));
  });

  test('a time up to five minutes ahead counts as now, and a later one is in_future', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const [id = '', hidden = ''] = await addSounds(sql, [{}, { is_active: false }]);
    const ahead = at(id, 5, ago(-4 * minuteMs));
    expect(await save(app, at(id, 9, ago(-6 * minuteMs)), ahead)).toEqual(['in_future', 'saved']);
    expect(await storedOf(sql, user.id)).toEqual([{ sound_id: id, position_sec: 5, is_ahead: false }]);
    expect(await save(app, at(id, 6, ago(0)), ahead)).toEqual(['older', 'saved']); // the arrival is newer
    const unknown = [at(hidden, 5), at(hidden, null), at(randomUUID(), 5), at(randomUUID(), 5, ago(-6 * minuteMs))];
    expect(await save(app, ...unknown)).toEqual(['not_found', 'not_found', 'not_found', 'in_future']);
    expect(await positionsOf(app)).toEqual([5]);
    await sql`update public.sounds set is_active = false where id = ${id}`;
    expect(await progressOf(app)).toMatchObject([{ sound_id: id, sounds: null }]);
  });

  test('keeps the newest 200 positions of a user, besides removals', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const ids = await addSounds(sql, Array(300).fill({}));
    const entries = ids.map((id, n) => at(id, n < 100 ? null : n, ago(n * 1000)));
    for (const start of [200, 0, 100])
      expect(await save(app, ...entries.slice(start, start + 100))).not.toContain('older');
    expect(await positionsOf(app)).toEqual(Array.from({ length: 200 }, (_, n) => n + 100));
    const [, , extra = ''] = await addSounds(sql, [{}, {}, {}]);
    expect(await save(app, at(extra, 1, ago(3_600_000)))).toEqual(['older']);
    expect(await save(app, at(extra, 1))).toEqual(['saved']);
    expect((await positionsOf(app)).slice(-1)).toEqual([298]);
    expect(await save(app, ...entries.slice(0, 100).map((entry) => ({ ...entry, position_sec: 1 })))).toEqual(
      Array(100).fill('older'),
    );
  });

  test('users and API keys of their owner share positions, which no other user gets', async ({ gateway, sql }) => {
    const [mine, theirs] = [await newUser(gateway), await newUser(gateway)];
    const partner = clientWith(gateway, await issueKey(sql, mine));
    const [id = '', other = ''] = await addSounds(sql, [{}, {}]);
    expect(await save(partner, at(id, 5))).toEqual(['saved']);
    expect(await save(mine.app, at(other, 6, ago(0)))).toEqual(['saved']);
    for (const client of [mine.app, partner]) expect(await positionsOf(client)).toEqual([6, 5]);
    expect(await progressOf(theirs.app)).toEqual([]);
  });

  test('the data API accepts no times ahead, no wrong positions and only 100 entries', async ({ gateway, sql }) => {
    const { access_token: token, user } = await newUser(gateway);
    const ids = await addSounds(sql, Array(101).fill({}));
    const call = (...entries: object[]) => rest(token, 'POST', 'rpc/save_progress', { entries });
    const entry = at(ids[0] ?? '', 5);
    for (const wrong of [{ position_sec: -1 }, { position_sec: 'NaN' }, { sound_id: 'x' }])
      expect((await call({ ...entry, ...wrong })).status, JSON.stringify(wrong)).toBe(400);
    expect(await call({ ...entry, updated_at: '-infinity' })).toMatchObject({ body: [{ status: 'older' }] });
    const inFuture = { body: [{ status: 'in_future' }] };
    for (const updated_at of ['infinity', ago(-6 * minuteMs), null])
      expect(await call({ ...entry, updated_at })).toMatchObject(inFuture);
    expect(await storedOf(sql, user.id)).toEqual([]);
    expect((await call(...ids.map((id) => at(id, 5, ago(-minuteMs))))).body).toHaveLength(100);
    expect((await storedOf(sql, user.id)).filter(({ is_ahead }) => !is_ahead)).toHaveLength(100);
  });
});

describe('removed positions', () => {
  test('a removal from the history removes positions, and rejects older ones for 30 days', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const [first = '', hidden = '', third = '', unreported = '', never = ''] = await addSounds(sql, Array(5).fill({}));
    const reports = [at(first, 5), at(hidden, 6, ago(0)), at(third, 7, ago(-minuteMs)), at(unreported, 8)];
    await save(app, ...reports.slice(0, 3));
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    const remove = (path: string) => app.delete(path).expect(200, { data: { ok: true } });
    for (const id of [first, unreported, randomUUID()]) await remove(`/history/${id}`);
    expect((await positionsOf(app)).sort()).toEqual([6, 7]);
    await remove('/history');
    expect(await positionsOf(app)).toEqual([]);
    await sql`update public.sounds set is_active = true where id = ${hidden}`;
    const older = [...reports.filter(({ sound_id }) => sound_id !== third), at(first, 9, ago(minuteMs / 2))];
    expect(await save(app, ...older, at(never, 10))).toEqual(Array(5).fill('older'));
    expect(await storedOf(sql, user.id)).toEqual([]);

    const wait = (days: number) => sql`
      update private.history_clearings set cleared_at = cleared_at - ${days} * interval '1 day'
      where user_id = ${user.id}`;
    await wait(29.9);
    await sql`select private.upkeep()`;
    const clearings = async () => (await app.get('/me/export').expect(200)).body.data.history_clearings;
    expect(await clearings()).toHaveLength(3);
    const [during, before] = [ago(29 * 24 * 60 * minuteMs), ago(29.95 * 24 * 60 * minuteMs)];
    expect(await save(app, at(first, 5, before), at(hidden, 6, during))).toEqual(['older', 'saved']);
    await wait(0.2);
    await sql`select private.upkeep()`;
    expect(await clearings()).toEqual([]);
    expect(await save(app, at(third, 5, ago(30.01 * 24 * 60 * minuteMs)))).toEqual(['older']);
  });

  test('the second of two saves within a second on two devices wins', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [id = ''] = await addSounds(sql, [{}]);
    const second = Math.floor(Date.now() / 1000) * 1000 - 5000;
    const entries = [900, 100].map((position, place) =>
      at(id, position, new Date(second + 2 * place + 1).toISOString()),
    );
    for (const entry of entries.toReversed()) await save(app, entry);
    expect(await positionsOf(app)).toEqual([100]);
  });
});

const hourMs = 60 * minuteMs;

/** Reports of several devices in the order of true time. `deliveries` orders the arrivals of a report; empty: lost. */
const listening = fc.array(
  fc.record({
    gapMs: fc.integer({ min: 5_000, max: 30 * minuteMs }),
    device: fc.integer({ min: 0, max: 2 }),
    position: fc.option(fc.integer({ min: 0, max: 3_600 }), { freq: 4 }),
    deliveries: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const clockErrors = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 3, maxLength: 3 });

test.for([1, 2])('200 histories of devices, part %i, end at the newest report', async (_, { gateway, sql }) => {
  const { app, user } = await newUser(gateway);
  const seed = randomInt(2 ** 31);
  const histories = fc.sample(fc.tuple(listening, clockErrors), { seed, numRuns: 200 });
  const sounds = await addSounds(sql, Array(200).fill({}));
  const arrivals: { entry: Entry; order: number }[] = [];
  const expected = histories.map(([reports, errors], n) => {
    let moment = Date.now() - 12 * hourMs;
    const entries = reports.map(({ gapMs, device, position }) => {
      moment += gapMs;
      return at(sounds[n] ?? '', position, new Date(moment + (errors[device] ?? 0)).toISOString());
    });
    for (const [place, { device, deliveries }] of reports.entries()) {
      // A device keeps its last report until it has arrived.
      const isLast = reports.findLastIndex((report) => report.device === device) === place;
      for (const order of deliveries.length === 0 && isLast ? [1] : deliveries)
        arrivals.push({ entry: entries[place] as Entry, order });
    }
    return entries.at(-1)?.position_sec;
  });
  const entries = arrivals.sort((a, b) => a.order - b.order).map(({ entry }) => entry);
  for (let sent = 0; sent < entries.length; sent += 100) await save(app, ...entries.slice(sent, sent + 100));
  const stored = new Map((await storedOf(sql, user.id)).map(({ sound_id, position_sec }) => [sound_id, position_sec]));
  expect(
    sounds.map((id) => stored.get(id)),
    `seed ${seed}`,
  ).toEqual(expected);
});
