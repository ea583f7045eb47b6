import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, inject, onTestFinished } from 'vitest';
import { addSounds } from '../support/catalogue.ts';
import { newEmail, test } from '../support/test.ts';

const [rounds, adoptionsAtOnce, writesOfEach] = [20, 10, 6];

interface Sent {
  plays: number;
  liked: Set<string>;
  newestPosition: Map<string, string>;
}

const time = (second: number) => new Date(Date.now() - 3_600_000 + second * 1000).toISOString();

// Calls the database itself, because only its locks are tested here.
test('200 adoptions beside writes of guest and owner lose nothing and count nothing twice', async ({ sql }) => {
  const pool = postgres(inject('stack').databaseUrl, { max: 30, onnotice: () => {} });
  onTestFinished(() => pool.end());
  await sql`insert into private.guests_allowed default values on conflict (is_allowed) do nothing`;
  const sounds = await addSounds(
    sql,
    Array.from({ length: 6 }, () => ({})),
  );

  /** Calls a function as this user. Returns false if the account is gone, which apps get as a 401. */
  async function callAs(user: string, name: string, argument: string | postgres.Parameter): Promise<boolean> {
    const claims = JSON.stringify({ sub: user, role: 'authenticated' });
    try {
      await pool.begin(async (call) => {
        await call`select set_config('request.jwt.claims', ${claims}, true), set_config('role', 'authenticated', true)`;
        await call`select ${call.unsafe(`public.${name}`)}(${argument})`;
      });
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === 'PT401') return false;
      throw error;
    }
  }

  /** Counts a play as the service. Returns false if the account is gone. */
  const play = (user: string, sound: string) =>
    pool`select public.count_play(${sound}, ${user}, ${randomUUID()})`.then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === 'PT401') return false;
        throw error;
      },
    );

  /** Sends one play, favorite or position, and records it if the database took it. */
  async function write(user: string, sent: Sent, step: number): Promise<void> {
    const sound = sounds[step % sounds.length] as string;
    const updated_at = time(step);
    const entries = pool.json([{ sound_id: sound, position_sec: step, updated_at }]);
    if (step % 3 === 0 && (await play(user, sound))) sent.plays++;
    if (step % 3 === 1 && (await callAs(user, 'add_favorite', sound))) sent.liked.add(sound);
    if (step % 3 !== 2 || !(await callAs(user, 'save_progress', entries))) return;
    if (updated_at > (sent.newestPosition.get(sound) ?? '')) sent.newestPosition.set(sound, updated_at);
  }

  async function adoptWhileWriting(): Promise<void> {
    const [guest, owner] = [randomUUID(), randomUUID()];
    await sql`insert into auth.users (id, email, is_anonymous)
      values (${guest}, null, true), (${owner}, ${newEmail()}, false)`;
    const sent: Sent = { plays: 0, liked: new Set(), newestPosition: new Map() };
    const steps = Array.from({ length: writesOfEach }, (_, step) => step);
    const [[adoption]] = await Promise.all([
      write(guest, sent, 0).then(() => pool`select public.adopt_guest(${guest}, ${owner}) as is_adopted`),
      ...steps.map((step) => write(guest, sent, step)),
      ...steps.map((step) => write(owner, sent, step + writesOfEach)),
    ]);
    expect(adoption).toEqual({ is_adopted: true });

    const [rows] = await sql`
      select
        (select coalesce(sum(plays), 0)::int from public.history where user_id = ${owner}) as plays,
        (select coalesce(array_agg(sound_id order by sound_id), '{}') from public.favorites where user_id = ${owner})
          as liked,
        (select coalesce(json_object_agg(sound_id, private.iso_time(updated_at)), '{}') from public.progress
          where user_id = ${owner}) as positions`;
    expect(rows).toEqual({
      plays: sent.plays,
      liked: [...sent.liked].sort(),
      positions: Object.fromEntries(sent.newestPosition),
    });
    const rest = await sql`
      select from public.favorites where user_id = ${guest}
      union all select from public.history where user_id = ${guest}
      union all select from public.progress where user_id = ${guest}
      union all select from private.play_receipts where user_id = ${guest}
      union all select from auth.users where id = ${guest}`;
    expect(rest).toHaveLength(0);
  }

  for (let round = 0; round < rounds; round++)
    await Promise.all(Array.from({ length: adoptionsAtOnce }, adoptWhileWriting));
});
