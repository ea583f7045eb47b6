import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { addSound, addSounds } from '../support/catalogue.ts';
import { type Session, type Sql, signUp, test } from '../support/test.ts';

// Each statement has its own connection, so that they meet in the database.

/** Opens connections, which are there when it resolves. */
async function connect(count: number): Promise<Sql[]> {
  const connections = Array.from({ length: count }, () =>
    postgres(inject('stack').databaseUrl, { max: 1, onnotice() {} }),
  );
  onTestFinished(async () => void (await Promise.all(connections.map((sql) => sql.end()))));
  await Promise.all(connections.map((sql) => sql`select`));
  return connections;
}

type Play = { id: string; sound_id: string };

/** Counts a play as the service does; returns the count that it tells, null for a sound that is not there. */
async function countPlay(sql: Sql, { user }: Session, { id, sound_id }: Play): Promise<number | null> {
  const [row] =
    await sql`select (public.count_play(${sound_id}, ${user.id}, ${id}) ->> 'play_count')::int as count`;
  return row?.['count'];
}

/** Counts plays of now as the service does; returns their statuses. */
async function countPlays(sql: Sql, { user }: Session, plays: Play[]): Promise<string[]> {
  const sent = plays.map((play) => ({ ...play, played_at: new Date().toISOString() }));
  const [row] = await sql`select public.count_plays(${sql.json(sent)}, ${user.id}) as results`;
  return row?.['results'].map(({ status }: { status: string }) => status);
}

/** Stored plays of a user: the count of each sound, and the plays in the history. */
const kept = (sql: Sql, { user }: Session, sounds: string[]) => sql`
  select counter.plays::int as counted, history.plays::int as entered, day.plays::int as of_today
  from unnest(${sounds}::uuid[]) with ordinality as sound (id, position)
    left join public.play_counts as counter on counter.sound_id = sound.id
    left join public.history on history.sound_id = sound.id and history.user_id = ${user.id}
    left join private.plays_by_day as day on day.sound_id = sound.id
  order by position`;

/** Resolves when a connection waits for a lock. */
async function untilBlocked(sql: Sql, pid: number) {
  const isBlocked = async () => {
    const [row] =
      await sql`select wait_event_type = 'Lock' as waits from pg_stat_activity where pid = ${pid}`;
    return row?.['waits'];
  };
  while (!(await isBlocked()));
}

const pidOf = async (sql: Sql): Promise<number> => (await sql`select pg_backend_pid() as pid`)[0]?.['pid'];

describe('a play', () => {
  test('sent alone and in a batch, both at once, counts once', async ({ sql, user }) => {
    const connections = await connect(4);
    const sounds = await addSounds(sql, Array(50).fill({}));
    const plays = sounds.map((sound_id) => ({ id: randomUUID(), sound_id }));
    await Promise.all([
      countPlays(connections[0] as Sql, user, plays),
      countPlays(connections[1] as Sql, user, plays.toReversed()),
      ...connections.slice(2).map(async (connection) => {
        for (const play of plays) await countPlay(connection, user, play);
      }),
    ]);
    expect(await kept(sql, user, sounds)).toEqual(Array(50).fill({ counted: 1, entered: 1, of_today: 1 }));
  });
});

test('batches and single plays at once leave no more receipts than a day has', async ({ api, sql }) => {
  const connections = await connect(6);
  const session = await signUp(api);
  const sound_id = await addSound(sql);
  const play = () => ({ id: randomUUID(), sound_id });
  await sql`
    insert into private.listening_days (user_id, day, receipts)
    values (${session.user.id}, (now() at time zone 'UTC')::date, 900)`;
  const [one, two, ...singles] = connections as [Sql, Sql, ...Sql[]];
  const [statuses] = await Promise.all([
    Promise.all([one, two].map((sql) => countPlays(sql, session, Array.from({ length: 80 }, play)))),
    ...singles.map(async (sql) => {
      for (let turn = 0; turn < 20; turn++) await countPlay(sql, session, play());
    }),
  ]);
  const [row] = await sql`
    select receipts, (select count(*)::int from private.play_receipts where user_id = ${session.user.id}) as kept,
      (select plays::int from public.play_counts where sound_id = ${sound_id}) as plays
    from private.listening_days where user_id = ${session.user.id}`;
  const counted = statuses.flat().filter((status) => status === 'counted').length;
  expect(row).toEqual({ receipts: 1_000, kept: 100, plays: 80 + counted });
});

test('batches of the same sounds in any order, by many users, never deadlock', async ({ api, sql }) => {
  const connections = await connect(8);
  const users = await Promise.all(connections.map(() => signUp(api)));
  const sounds = await addSounds(sql, Array(30).fill({}));
  const shuffled = () => sounds.toSorted(() => Math.random() - 0.5);
  await Promise.all(
    connections.map(async (connection, index) => {
      for (let turn = 0; turn < 10; turn++) {
        const plays = shuffled().map((sound_id) => ({ id: randomUUID(), sound_id }));
        await countPlays(connection, users[index] as Session, plays);
      }
    }),
  );
  const rows = await kept(sql, users[0] as Session, sounds);
  expect(rows).toEqual(Array(30).fill({ counted: 80, entered: 10, of_today: 80 }));
});

test('a history can be cleared while plays are entered in it', async ({ api, sql }) => {
  const [clearing, counting] = (await connect(2)) as [Sql, Sql];
  const session = await signUp(api);
  const sounds = await addSounds(sql, Array(60).fill({}));
  const claims = JSON.stringify({ sub: session.user.id, role: 'authenticated' });
  const clear = () =>
    clearing.begin(async (transaction) => {
      await transaction`select set_config('request.jwt.claims', ${claims}, true), set_config('role', 'authenticated', true)`;
      await transaction`select public.clear_history()`;
    });
  for (let turn = 0; turn < 40; turn++) {
    const plays = sounds
      .toSorted(() => Math.random() - 0.5)
      .map((sound_id) => ({ id: randomUUID(), sound_id }));
    await countPlays(counting, session, plays.slice(0, 40));
    await Promise.all([clear(), countPlays(counting, session, plays)]);
  }
  await clear();
  expect(await sql`select from public.history where user_id = ${session.user.id}`).toHaveLength(0);
});

describe('while a sound is being deleted', () => {
  test('a batch waits, finds it gone, and counts the others', async ({ sql, user }) => {
    const [deleting, counting] = (await connect(2)) as [Sql, Sql];
    const [gone = '', other = ''] = await addSounds(sql, [{}, {}]);
    const plays = [gone, other].map((sound_id) => ({ id: randomUUID(), sound_id }));
    await countPlays(counting, user, [{ id: randomUUID(), sound_id: gone }]);
    const pid = await pidOf(counting);
    let statuses: Promise<string[]> | undefined;
    await deleting.begin(async (transaction) => {
      await transaction`delete from public.sounds where id = ${gone}`;
      statuses = countPlays(counting, user, plays);
      await untilBlocked(sql, pid);
    });
    expect(await statuses).toEqual(['not_found', 'counted']);
    expect(await sql`select from public.history where sound_id = ${gone}`).toHaveLength(0);
    expect(
      await sql`select from private.play_receipts where sound_id = ${gone} and key = ${plays[0]?.id ?? ''}`,
    ).toHaveLength(0);
  });

  test('no play of it is left in a history', async ({ sql, user }) => {
    const connections = await connect(4);
    const sounds = await addSounds(sql, Array(40).fill({}));
    const plays = sounds.map((sound_id) => ({ id: randomUUID(), sound_id }));
    const rejected = { code: '23503' }; // play_counts refers to the sound
    await Promise.all([
      (async () => {
        for (const id of sounds) await sql`delete from public.sounds where id = ${id}`;
      })(),
      ...connections.slice(1).map(async (connection) => {
        for (const { sound_id } of plays)
          await countPlay(connection, user, { id: randomUUID(), sound_id }).catch((error) =>
            expect(error).toMatchObject(rejected),
          );
      }),
      countPlays(connections[0] as Sql, user, plays),
    ]);
    expect(await sql`select from public.sounds where id = any (${sounds})`).toHaveLength(0);
    for (const table of ['public.history', 'public.play_counts', 'private.plays_by_day'])
      expect(await sql`select from ${sql(table)} where sound_id = any (${sounds})`, table).toHaveLength(0);
  });
});

describe('while an account is being deleted', () => {
  test('a play counts before or fails after, and nothing is left', async ({ api, sql }) => {
    const connections = await connect(3);
    for (let turn = 0; turn < 10; turn++) {
      const session = await signUp(api);
      const sound_id = await addSound(sql);
      let counted = 0;
      const gone = (error: unknown) => expect(error).toMatchObject({ code: 'PT401' });
      await Promise.all([
        sql`delete from auth.users where id = ${session.user.id}`,
        ...connections.map(async (connection, index) => {
          const play = { id: randomUUID(), sound_id };
          await (index === 0
            ? countPlays(connection, session, [play])
            : countPlay(connection, session, play)
          ).then(() => counted++, gone);
        }),
      ]);
      const [row] =
        await sql`select coalesce(max(plays), 0)::int as plays from public.play_counts where sound_id = ${sound_id}`;
      expect(row).toEqual({ plays: counted });
      for (const table of ['public.history', 'private.play_receipts', 'private.listening_days'])
        expect(await sql`select from ${sql(table)} where user_id = ${session.user.id}`, table).toHaveLength(
          0,
        );
    }
  });
});

test('the upkeep does not wait for old receipts that a request has locked', async ({ api, sql }) => {
  const [locking, removing] = (await connect(2)) as [Sql, Sql];
  const other = await signUp(api);
  const sound_id = await addSound(sql);
  await sql`
    insert into private.play_receipts (user_id, key, sound_id, received_at)
    select ${other.user.id}, n::text, ${sound_id}, now() - interval '32 days' from generate_series(1, 4) as n`;
  await removing`set lock_timeout = '100ms'`;
  const left = () => sql`select key from private.play_receipts where user_id = ${other.user.id}`;
  await locking.begin(async (transaction) => {
    await transaction`select from private.play_receipts where user_id = ${other.user.id} and key = '1' for update`;
    await removing`select private.upkeep()`;
    expect(await left()).toEqual([{ key: '1' }]);
  });
  await removing`select private.upkeep()`;
  expect(await left()).toEqual([]);
});

test('a listener is counted once for a day, however many plays arrive together', async ({ api, sql }) => {
  const connections = await connect(6);
  const session = await signUp(api);
  const sounds = await addSounds(sql, Array(6).fill({}));
  // A day of the past that no other test plays on.
  const played_at = new Date(Date.now() - 17 * 24 * 3600_000).toISOString();
  const listeners = async () => {
    const [row] = await sql`
      select coalesce(sum(listeners), 0)::int as listeners from private.listeners_by_day where day = ${played_at.slice(0, 10)}`;
    return row?.['listeners'];
  };
  const before = await listeners();
  await Promise.all(
    connections.map((connection, index) => {
      const sent = [{ id: randomUUID(), sound_id: sounds[index] ?? '', played_at }];
      return connection`select public.count_plays(${connection.json(sent)}, ${session.user.id})`;
    }),
  );
  expect(await listeners()).toBe(before + 1);
});
