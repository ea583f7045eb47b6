import { expect } from 'vitest';
import { addSound, addSounds, deleteForGood } from '../support/catalogue.ts';
import { type Session, signUp, test } from '../support/test.ts';
import { asUser, countPlays, expectNone, playOf, shuffled } from './concurrency.ts';

interface Reported {
  position_sec: number;
  moment?: Date;
}

/** Saves positions as the data API does for the user. Returns their statuses. */
async function saveProgress(session: Session, sounds: string[], { position_sec, moment = new Date() }: Reported) {
  const entries = sounds.map((sound_id) => ({ sound_id, position_sec, updated_at: moment.toISOString() }));
  const results = await asUser(session, `select public.save_progress('${JSON.stringify(entries)}') as result`);
  return results.map(({ status }: { status: string }) => status);
}

test('100 positions in one sound that arrive at once leave the newest', async ({ api, sql }) => {
  const session = await signUp(api);
  const sound = await addSound(sql);
  const reports = Array.from({ length: 100 }, (_, n) => ({
    position_sec: n,
    moment: new Date(Date.now() - n * 5_000),
  }));
  await Promise.all(shuffled(reports).map((report) => saveProgress(session, [sound], report)));
  const stored = sql`select position_sec from public.progress where user_id = ${session.user.id}`;
  expect(await stored).toEqual([{ position_sec: 0 }]);
});

test('positions that arrive at once in any order never deadlock, and leave the newest 200', async ({ api, sql }) => {
  const [session, other] = [await signUp(api), await signUp(api)];
  const sounds = await addSounds(sql, Array(300).fill({}));
  const save = (each: Session, some: string[]) => saveProgress(each, shuffled(some), { position_sec: 5 });
  for (let turn = 0; turn < 5; turn++) {
    await sql`delete from public.progress where user_id = ${session.user.id}`;
    const parts = [0, 50, 100, 150, 200, 250].map((start) => sounds.slice(start, start + 50));
    await Promise.all(parts.flatMap((part) => [save(session, part), save(other, shuffled(sounds).slice(0, 100))]));
    const stored = await sql`select from public.progress where user_id = ${session.user.id}`;
    expect(stored).toHaveLength(200);
  }
});

test('deletions of sounds, histories and accounts while positions are saved leave nothing', async ({ api, sql }) => {
  for (let turn = 0; turn < 10; turn++) {
    const session = await signUp(api);
    const sounds = await addSounds(sql, Array(20).fill({}));
    const kept = await addSound(sql);
    await countPlays(session, sounds.map(playOf));
    const isGone = turn % 2 === 0;
    const deleteSounds = async () => {
      for (const id of shuffled(sounds)) await deleteForGood(sql, [id]);
    };
    const settled = await Promise.allSettled([
      deleteSounds(),
      asUser(session, 'select public.clear_history()'),
      ...sounds.map((id) => asUser(session, `select public.remove_from_history('${id}')`)),
      ...sounds.map(() => saveProgress(session, shuffled([...sounds, kept]), { position_sec: 5 })),
      ...(isGone ? [sql`delete from auth.users where id = ${session.user.id}`] : []),
    ]);
    // Only calls after the deletion of the account fail.
    for (const { reason } of settled.filter((call) => call.status === 'rejected'))
      expect([isGone, reason.code]).toEqual([true, 'PT401']);
    await expectNone(sql, 'sound_id', sounds, ['public.history', 'public.progress']);
    if (!isGone) await asUser(session, 'select public.clear_history()');
    const positions = sql`select from public.progress where user_id = ${session.user.id} and position_sec is not null`;
    expect(await positions).toEqual([]);
  }
});
