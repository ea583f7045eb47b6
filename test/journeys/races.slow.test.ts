import { randomUUID } from 'node:crypto';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';
import { expect, onTestFinished } from 'vitest';
import { addCategory, addSound, addSounds, deleteForGood } from '../support/catalogue.ts';
import { startDatabase } from '../support/prepared.ts';
import { type Session, type Sql, signUp, test } from '../support/test.ts';
import { asUser, countPlays, expectNone, type Play, playOf, pool, shuffled } from './concurrency.ts';

const countPlay = async ({ user }: Session, { id, sound_id }: Play) =>
  await pool`select public.count_play(${sound_id}, ${user.id}, ${id})`;

/** Returns the stored plays of each sound: in total, of one day, and in the history of a user. */
const kept = (sql: Sql, { user }: Session, sounds: string[], day: Date) => sql`
  select counter.plays::int as counted, by_day.plays::int as of_day, history.plays::int as entered
  from unnest(${sounds}::uuid[]) with ordinality as sound (id, position)
    left join public.play_counts as counter on counter.sound_id = sound.id
    left join private.plays_by_day as by_day on by_day.sound_id = sound.id and day = ${day.toISOString().slice(0, 10)}
    left join public.history on history.sound_id = sound.id and history.user_id = ${user.id}
  order by position`;

/** Waits until another connection waits for a lock of this one. */
async function waitForWaiter(sql: Sql, pid: number) {
  const waiting = () => sql`select from pg_stat_activity where ${pid}::int = any (pg_blocking_pids(pid))`;
  while ((await waiting()).length === 0);
}

test('a play that is sent alone and in a batch at the same time counts once', async ({ sql, user }) => {
  const sounds = await addSounds(sql, Array(50).fill({}));
  const plays = sounds.map(playOf);
  const single = async () => {
    for (const play of plays) await countPlay(user, play);
  };
  await Promise.all([countPlays(user, plays), countPlays(user, plays.toReversed()), single(), single()]);
  const once = { counted: 1, of_day: 1, entered: 1 };
  expect(await kept(sql, user, sounds, new Date())).toEqual(Array(50).fill(once));
});

test('simultaneous batches and single plays do not exceed the daily limit of receipts', async ({ api, sql }) => {
  const session = await signUp(api);
  const sound_id = await addSound(sql);
  await sql`
    insert into private.listening_days (user_id, day, receipts)
    values (${session.user.id}, (now() at time zone 'UTC')::date, 900)`;
  const batch = () => Array.from({ length: 80 }, () => playOf(sound_id));
  const singles = async () => {
    for (let turn = 0; turn < 20; turn++) await countPlay(session, playOf(sound_id));
  };
  const batches = Promise.all([countPlays(session, batch()), countPlays(session, batch())]);
  const [statuses] = await Promise.all([batches, singles(), singles(), singles(), singles()]);
  const [row] = await sql`
    select receipts, (select count(*)::int from private.play_receipts where user_id = ${session.user.id}) as kept,
      (select plays::int from public.play_counts where sound_id = ${sound_id}) as plays
    from private.listening_days where user_id = ${session.user.id}`;
  const counted = statuses.flat().filter((status) => status === 'counted').length;
  expect(row).toEqual({ receipts: 1_000, kept: 100, plays: 80 + counted });
});

test('batches of many users in any order never deadlock, and each user is one listener', async ({ api, sql }) => {
  const users = [await signUp(api), await signUp(api), await signUp(api), await signUp(api)] as const;
  const sounds = await addSounds(sql, Array(30).fill({}));
  const moment = new Date(Date.now() - 17 * 24 * 3600_000); // on a day without plays of other tests
  const listeners = async () => {
    const [row] = await sql`
      select coalesce(sum(listeners), 0)::int as count from private.listeners_by_day where day = ${moment}::date`;
    return row?.['count'];
  };
  const before = await listeners();
  await Promise.all(
    [...users, ...users].map(async (session) => {
      for (let turn = 0; turn < 10; turn++) await countPlays(session, shuffled(sounds).map(playOf), moment);
    }),
  );
  const each = { counted: 80, of_day: 80, entered: 20 };
  expect(await kept(sql, users[0], sounds, moment)).toEqual(Array(30).fill(each));
  expect(await listeners()).toBe(before + 4);
});

test('requests of one user that began before and after midnight do not deadlock', async () => {
  const { databaseUrl, stop } = await startDatabase();
  const connect = (url: string, clock = '0') =>
    postgres(url, { max: 1, connection: { 'tests.clock': clock }, onnotice() {} });
  const superuser = connect(as(superuserName, databaseUrl));
  const [before, after] = [connect(databaseUrl, '-1 day'), connect(databaseUrl)];
  onTestFinished(async () => {
    await Promise.all([superuser, before, after].map((sql) => sql.end()));
    await stop();
  });
  await superuser`
    create or replace function pg_catalog.now() returns timestamptz language sql stable
    as $$ select transaction_timestamp() + current_setting('tests.clock')::interval $$`;
  const [user, sound_id] = [randomUUID(), randomUUID()];
  await after`insert into auth.users (id, email) values (${user}, 'user@tests.example.com')`;
  await after`insert into public.sounds (id, title) values (${sound_id}, 'A sound')`;
  const played_at = new Date(Date.now() - 25 * 3600_000).toISOString();
  const count = async (sql: postgres.ISql, id: string) => {
    const [row] = await sql`select public.count_plays(${sql.json([{ id, sound_id, played_at }])}, ${user}) as results`;
    return row?.['results'];
  };

  let sentAgain: Promise<unknown> | undefined;
  await before.begin(async (transaction) => {
    await count(transaction, 'first');
    const [own] = await transaction`select pg_backend_pid() as pid`;
    sentAgain = count(after, 'second');
    await waitForWaiter(superuser, own?.['pid']);
    expect(await count(transaction, 'second')).toEqual([{ id: 'second', status: 'counted' }]);
  });
  expect(await sentAgain).toEqual([{ id: 'second', status: 'duplicate' }]);
});

test('a history can be cleared while plays are added to it', async ({ api, sql }) => {
  const session = await signUp(api);
  const sounds = await addSounds(sql, Array(60).fill({}));
  const clear = () => asUser(session, 'select public.clear_history()');
  for (let turn = 0; turn < 40; turn++) {
    const plays = shuffled(sounds).map(playOf);
    await countPlays(session, plays.slice(0, 40));
    await Promise.all([clear(), countPlays(session, plays)]);
  }
  await clear();
  await expectNone(sql, 'user_id', [session.user.id], ['public.history']);
});

test('a play that waits while the history is being cleared counts, and does not enter it', async ({ api, sql }) => {
  const ways = {
    'one with a key': countPlay,
    'one without a key': async ({ user }: Session, { sound_id }: Play) =>
      await pool`select public.count_play(${sound_id}, ${user.id})`,
    'a batch': (session: Session, play: Play) => countPlays(session, [play]),
  };
  for (const [way, count] of Object.entries(ways)) {
    const session = await signUp(api);
    const sound_id = await addSound(sql);
    let played: Promise<unknown> | undefined;
    await pool.begin(async (transaction) => {
      const claims = JSON.stringify({ sub: session.user.id, role: 'authenticated' });
      const [own] = await transaction`
        select pg_backend_pid() as pid, set_config('request.jwt.claims', ${claims}, true),
          private.lock_plays(${session.user.id})`;
      played = count(session, playOf(sound_id));
      await waitForWaiter(sql, own?.['pid']);
      await transaction`select public.clear_history()`;
    });
    await played;
    expect(await kept(sql, session, [sound_id], new Date()), way).toEqual([{ counted: 1, of_day: 1, entered: null }]);
  }
});

test('a batch waits while a sound is being deleted, then counts only the other sounds', async ({ sql, user }) => {
  const [gone = '', other = ''] = await addSounds(sql, [{}, {}]);
  await countPlays(user, [playOf(gone)]);
  const plays = [gone, other].map(playOf);
  let statuses: Promise<string[]> | undefined;
  await pool.begin(async (transaction) => {
    await deleteForGood(transaction, [gone]);
    const [own] = await transaction`select pg_backend_pid() as pid`;
    statuses = countPlays(user, plays);
    await waitForWaiter(sql, own?.['pid']);
  });
  expect(await statuses).toEqual(['not_found', 'counted']);
  await expectNone(sql, 'sound_id', [gone], ['public.history']);
  await expectNone(sql, 'key', [plays[0]?.id ?? ''], ['private.play_receipts']);
});

test('no play remains of a sound that is deleted while it is played', async ({ sql, user }) => {
  const sounds = await addSounds(sql, Array(40).fill({}));
  const rejected = { code: '23503' }; // play_counts refers to the sound
  const deleteAll = async () => {
    for (const id of sounds) await deleteForGood(sql, [id]);
  };
  const single = async () => {
    for (const play of sounds.map(playOf))
      await countPlay(user, play).catch((error) => expect(error).toMatchObject(rejected));
  };
  await Promise.all([deleteAll(), single(), single(), single(), countPlays(user, sounds.map(playOf))]);
  await expectNone(sql, 'sound_id', sounds, ['public.history', 'public.play_counts', 'private.plays_by_day']);
});

test('a play of an account that is being deleted counts before or fails afterwards', async ({ api, sql }) => {
  for (let turn = 0; turn < 10; turn++) {
    const session = await signUp(api);
    const sound_id = await addSound(sql);
    const [, ...plays] = await Promise.allSettled([
      sql`delete from auth.users where id = ${session.user.id}`,
      countPlays(session, [playOf(sound_id)]),
      countPlay(session, playOf(sound_id)),
      countPlay(session, playOf(sound_id)),
    ]);
    const failed = plays.filter((play) => play.status === 'rejected');
    for (const { reason } of failed) expect(reason).toMatchObject({ code: 'PT401' });
    const [row] = await sql`
      select coalesce(max(plays), 0)::int as plays from public.play_counts where sound_id = ${sound_id}`;
    expect(row).toEqual({ plays: 3 - failed.length });
    const tables = ['public.history', 'private.play_receipts', 'private.listening_days'];
    await expectNone(sql, 'user_id', [session.user.id], tables);
  }
});

test('adding a favorite while its sound is deactivated and activated never fails', async ({ sql, user }) => {
  const id = await addSound(sql);
  let isOn = true;
  const toggle = async () => {
    while (isOn) await sql`update public.sounds set is_active = not is_active where id = ${id}`;
  };
  const added = new Set<boolean>();
  const add = async () => {
    for (let turn = 0; turn < 300; turn++)
      added.add(await asUser(user, `select public.add_favorite('${id}') as result`));
  };
  const adding = Promise.all([add(), add(), add()]).finally(() => (isOn = false));
  await Promise.all([adding, toggle()]);
  expect(added).toEqual(new Set([true, false]));
});

test('imports with equal created_at over 10 connections all succeed with unique values', async ({ sql }) => {
  const category = await addCategory(sql);
  const moments = sql`timestamptz '2002-02-03T04:05:06Z' + (n % 3) * interval '1 millisecond'`;
  const importSounds = () =>
    pool.begin(async (transaction) => {
      const insert = () => transaction`
        insert into public.sounds (title, category, created_at)
        select 'Import', ${category}, ${moments} from generate_series(1, 60) as n returning id`;
      const [first] = await insert();
      await deleteForGood(transaction, [first?.['id']]);
      const [, second] = await insert();
      await transaction`update public.sounds set created_at = '2002-02-03T04:05:06Z' where id = ${second?.['id']}`;
    });
  await Promise.all(Array.from({ length: 10 }, importSounds));
  const [row] = await sql`
    select count(*)::integer as sounds, count(distinct created_at)::integer as moments
    from public.sounds where category = ${category}`;
  expect(row).toEqual({ sounds: 10 * 119, moments: 10 * 119 });
});

test('first visits do not wait for catalogue locks, and the upkeep skips what is locked', async () => {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 22, connection: { lock_timeout: 5000 }, onnotice() {} });
  onTestFinished(async () => {
    await sql.end();
    await stop();
  });
  const users = Array.from({ length: 20 }, () => randomUUID());
  const visit = (user: string) => sql`
    select set_config('request.jwt.claims', ${JSON.stringify({ sub: user })}, false), public.touch_last_seen() as seen`;
  const receipts = async () => (await sql`select key from private.play_receipts`).map((row) => row['key']);
  const [sound] = await sql`insert into public.sounds (title) values ('A sound') returning id`;
  await sql`insert into public.play_counts values (${sound?.['id']}, 5)`;
  const trash = async () => (await sql`select title from public.sounds where deleted_at is not null`).length;
  await sql`insert into public.sounds (title, is_active, deleted_at) values ('Old', false, now() - interval '31 days')`;
  await sql`insert into auth.users (id, email) select id, id || '@example.com' from unnest(${users}::uuid[]) as id`;
  await sql`
    insert into private.play_receipts (user_id, key, sound_id, received_at)
    select ${users[0] ?? ''}, n, ${sound?.['id']}, now() - interval '32 days' from unnest(array['a', 'b']) as n`;
  await sql.begin(async (writer) => {
    await writer`update public.sounds set title = 'Another title'`;
    const visits = await Promise.all(users.map(visit));
    expect(visits.map(([row]) => row?.['seen'])).toEqual(users.map(() => true));
    expect(await receipts()).toEqual(['a', 'b']);
    await writer`select from private.play_receipts where key = 'a' for update`;
    await sql`select private.upkeep()`;
    expect([await receipts(), await trash()]).toEqual([['a'], 1]);
  });
  await sql`select private.upkeep()`;
  expect([await receipts(), await trash()]).toEqual([[], 0]);
  expect(await sql`select visitors::int from private.visitors_by_day`).toEqual([{ visitors: 20 }]);
  expect(await sql`select plays::int from private.popularity`).toEqual([{ plays: 5 }]);
});
