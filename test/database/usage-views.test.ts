import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { bearer } from '../support/api.ts';
import { addSection, addSound, addSounds } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { type Sql, signUp, test } from '../support/test.ts';

const dayMs = 24 * 60 * 60_000;
const dayAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Plays of a sound by day, as they are kept. */
const addPlays = (sql: Sql, sound: string, plays: Record<number, number>) => sql`
  insert into private.plays_by_day ${sql(
    Object.entries(plays).map(([days, count]) => ({
      sound_id: sound,
      day: dayAgo(Number(days)),
      plays: count,
    })),
  )}`;

/** Adds accounts; returns their ids. */
const addPeople = async (sql: Sql, count: number): Promise<string[]> =>
  (
    await sql`
      insert into auth.users (id, email)
      select id, id || '@example.com' from (select gen_random_uuid() as id from generate_series(1, ${count}::int)) as made
      returning id`
  ).map((row) => row['id']);

/** Enters a sound in the history of these accounts. */
const addListeners = (sql: Sql, sound: string, people: string[], days: number) => sql`
  insert into public.history (user_id, sound_id, plays, last_played_at)
  select id, ${sound}, 1, now() - ${days} * interval '1 day' from unnest(${people}::uuid[]) as id`;

/** The figures of a day, or of today. */
async function figures(sql: Sql, view: 'listeners_by_day' | 'accounts_by_day', day = dayAgo(0)) {
  const [row] = await sql`select * from ${sql(`admin.${view}`)} where day = ${day}`;
  return Object.fromEntries(
    Object.entries(row ?? {}).flatMap(([name, value]) => (name === 'day' ? [] : [[name, Number(value)]])),
  );
}

test('admin.plays_by_day shows plays by sound and day', async ({ api, sql, user }) => {
  const id = await addSound(sql, { title: 'Played by day' });
  for (let i = 0; i < 2; i++)
    await api.post(`/sounds/${id}/play`).auth(user.access_token, bearer).expect(200);
  const played_at = new Date(Date.now() - 2 * dayMs).toISOString();
  const plays = [{ id: randomUUID(), sound_id: id, played_at }];
  await api.post('/plays').auth(user.access_token, bearer).send({ plays }).expect(200);
  expect(
    await sql`select day::text, title, plays::int from admin.plays_by_day where sound_id = ${id}`,
  ).toEqual([
    { day: dayAgo(0), title: 'Played by day', plays: 2 },
    { day: played_at.slice(0, 10), title: 'Played by day', plays: 1 },
  ]);
});

test('admin.most_played counts listeners and plays of 7, 30 and 365 days', async ({ sql }) => {
  const [busy = '', old = '', forgotten = ''] = await addSounds(sql, [{}, {}, {}]);
  await addPlays(sql, busy, { 0: 1, 6: 2, 7: 4, 29: 8, 30: 16, 364: 32, 365: 64 });
  await addPlays(sql, old, { 300: 5 });
  await addPlays(sql, forgotten, { 400: 5 });
  const [one = '', two = '', three = '', four = ''] = await addPeople(sql, 4);
  await addListeners(sql, busy, [one], 6);
  await addListeners(sql, busy, [two], 7);
  await addListeners(sql, busy, [three], 364);
  await addListeners(sql, busy, [four], 365);
  const rows = await sql`
    select sound_id, (array[
      listeners_7_days, listeners_30_days, listeners_365_days, plays_7_days, plays_30_days, plays_365_days
    ])::int[] as figures
    from admin.most_played where sound_id in (${busy}, ${old}, ${forgotten})`;
  expect(rows).toEqual([
    { sound_id: busy, figures: [1, 2, 3, 3, 15, 63] },
    { sound_id: old, figures: [0, 0, 0, 0, 0, 5] },
  ]);
});

test('admin.listeners_by_day has every day since the first', async ({ sql }) => {
  await sql`insert into private.listeners_by_day values ('2025-01-01', 3), ('2025-01-03', 1) on conflict do nothing`;
  const rows = await sql`
    select day::text, listeners::int from admin.listeners_by_day where day between '2025-01-01' and '2025-01-03'`;
  expect(rows).toEqual([
    { day: '2025-01-03', listeners: 1 },
    { day: '2025-01-02', listeners: 0 },
    { day: '2025-01-01', listeners: 3 },
  ]);
  const [last] = await sql`select day::text from admin.listeners_by_day limit 1`;
  expect(last).toEqual({ day: dayAgo(0) });
});

describe('admin.accounts_by_day', () => {
  // Other tests sign up at the same time: a day of the past is this test's alone.
  const day = '2025-02-03';

  test('counts sign-ups and deletions, and keeps those of accounts that are gone', async ({ sql }) => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const before = await figures(sql, 'accounts_by_day', day);
    for (const id of ids)
      await sql`insert into auth.users (id, email, created_at) values (${id}, ${`${id}@example.com`}, ${`${day}T23:00:00Z`})`;
    const doctor = randomUUID();
    await sql`insert into auth.users (id, email, created_at) values (${doctor}, ${`${doctor}@doctor.invalid`}, ${`${day}T12:00:00Z`})`;
    const made = await figures(sql, 'accounts_by_day', day);
    expect(made['sign_ups']).toBe((before['sign_ups'] ?? 0) + 3);

    await sql`delete from auth.users where id in (${ids[0] ?? ''}, ${doctor})`;
    await sql`update auth.users set deleted_at = ${`${day}T23:59:00Z`} where id = ${ids[1] ?? ''}`;
    const after = await figures(sql, 'accounts_by_day', day);
    expect(after).toEqual({ ...made, deleted: (before['deleted'] ?? 0) + 1 });
    const kept = await sql`select deleted_on::text from private.deleted_accounts where signed_up_on = ${day}`;
    expect(kept.at(-1)).toEqual({ deleted_on: dayAgo(0) });
  });

  test('counts an account as active once a day', async ({ api, sql }) => {
    const { user, access_token: token } = await signUp(api);
    const visits = async () => (await figures(sql, 'accounts_by_day'))['active'] ?? 0;
    const seen = async (ago: string) => {
      await sql`update public.customers set last_seen_at = now() - ${ago}::interval where id = ${user.id}`;
      const before = await visits();
      await rest(token, 'POST', 'rpc/touch_last_seen', {});
      return (await visits()) - before;
    };
    expect(await seen('25 hours')).toBeGreaterThanOrEqual(1);
    const [row] =
      await sql`select last_seen_at > now() - interval '1 minute' as seen from public.customers where id = ${user.id}`;
    expect(row).toEqual({ seen: true });
  });
});

describe('admin.fill_section', () => {
  const fill = (sql: Sql, slug: string, days = 7, sounds = 10) =>
    sql`
      select place, title, listeners::int, days_played::int, plays::int
      from admin.fill_section(${slug}, ${days}, ${sounds})`;
  const picks = async (sql: Sql, slug: string) =>
    (
      await sql`
        select sound_id from public.home_section_sounds join public.home_sections on id = section_id
        where slug = ${slug} order by position`
    ).map((row) => row['sound_id']);

  test('fills a manual section with active sounds by listeners', async ({ api, sql, user }) => {
    const [first = '', second = '', third = '', earlier = '', hidden = '', loud = ''] = await addSounds(sql, [
      { title: 'Z first' },
      { title: 'A second' },
      { title: 'Third' },
      { title: 'Earlier' },
      { title: 'Hidden', is_active: false },
      { title: 'Loud' },
    ]);
    // More than other tests have.
    const people = await addPeople(sql, 60);
    onTestFinished(async () => {
      await sql`delete from public.sounds where id in ${sql([first, second, third, earlier, hidden, loud])}`;
      await sql`delete from auth.users where id in ${sql(people)}`;
    });
    await addListeners(sql, first, people.slice(0, 50), 6);
    await addPlays(sql, first, { 0: 1, 6: 1 });
    await addListeners(sql, second, people.slice(0, 50), 1);
    await addPlays(sql, second, { 1: 3 });
    await addListeners(sql, third, people.slice(0, 40), 0);
    await addPlays(sql, third, { 0: 1, 1: 1, 2: 1 });
    await addListeners(sql, earlier, people, 7);
    await addPlays(sql, earlier, { 7: 9 });
    await addListeners(sql, hidden, people, 0);
    await addPlays(sql, hidden, { 0: 9 });
    await addListeners(sql, loud, people.slice(0, 1), 0);
    await addPlays(sql, loud, { 0: 1_000_000 });
    const slug = await addSection(sql, { mode: 'manual' });
    await sql`
      insert into public.home_section_sounds
      select id, pick.* from public.home_sections, (values (${third}::uuid, 10), (${hidden}::uuid, 30)) as pick
      where slug = ${slug}`;
    expect(await fill(sql, slug, 7, 2)).toEqual([
      { place: 1, title: 'Z first', listeners: 50, days_played: 2, plays: 2 },
      { place: 2, title: 'A second', listeners: 50, days_played: 1, plays: 3 },
    ]);
    expect(await picks(sql, slug)).toEqual([first, second]);
    await addListeners(sql, second, people.slice(50), 2);
    await fill(sql, slug, 7, 3);
    expect(await picks(sql, slug)).toEqual([second, first, third]);
    const { body } = await api.get('/home').auth(user.access_token, bearer).expect(200);
    const section = body.sections.find((one: { slug: string }) => one.slug === slug);
    expect(section.sounds.map(({ id }: { id: string }) => id)).toEqual([second, first, third]);
  });

  test('counts one account as one listener, however often it plays', async ({ api, sql }) => {
    const sound = await addSound(sql);
    const { access_token } = await signUp(api);
    for (let turn = 0; turn < 3; turn++) {
      const plays = Array.from({ length: 100 }, () => ({
        id: randomUUID(),
        sound_id: sound,
        played_at: new Date().toISOString(),
      }));
      await api.post('/plays').auth(access_token, bearer).send({ plays }).expect(200);
      await api.delete('/history').auth(access_token, bearer).expect(200);
      await api.post(`/sounds/${sound}/play`).auth(access_token, bearer).expect(200);
    }
    const [top] = await sql`
      select listeners::int, plays::int from admin.top_sounds(7) where sound_id = ${sound}`;
    expect(top).toEqual({ listeners: 1, plays: 303 });
  });

  test('says what is wrong, and changes nothing', async ({ sql }) => {
    const rule = await addSection(sql, { mode: 'rule', rule_type: 'newest' });
    const manual = await addSection(sql, { mode: 'manual' });
    await expect(fill(sql, 'no-such-section')).rejects.toThrow('There is no home section "no-such-section".');
    await expect(fill(sql, rule)).rejects.toThrow('fills itself by its rule. Set its mode to manual');
    for (const days of [0, 366]) await expect(fill(sql, manual, days)).rejects.toThrow('1 to 365');
    for (const sounds of [0, 101]) await expect(fill(sql, manual, 7, sounds)).rejects.toThrow('1 to 100');
  });

  test('leaves the section alone when fewer sounds were played than asked for', async ({ sql }) => {
    const sound = await addSound(sql);
    const slug = await addSection(sql, { mode: 'manual' });
    await sql`insert into public.home_section_sounds select id, ${sound}, 1 from public.home_sections where slug = ${slug}`;
    class Undo extends Error {}
    const run = sql.begin(async (transaction) => {
      await transaction`delete from private.plays_by_day`;
      await addPlays(transaction as unknown as Sql, await addSound(transaction as unknown as Sql), { 0: 1 });
      await expect(
        transaction.savepoint((attempt) => fill(attempt as unknown as Sql, slug, 7, 2)),
      ).rejects.toThrow(
        'Only 1 active sounds were played in the last 7 days, so the section stays as it is.',
      );
      expect(await picks(transaction as unknown as Sql, slug)).toEqual([sound]);
      throw new Undo();
    });
    await expect(run).rejects.toThrow(Undo);
  });
});
