import { randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { addSounds } from '../support/catalogue.ts';
import { clientWith, newUser, type Session, test } from '../support/test.ts';

/** Adopted at once, and all of them: guests write until their account is gone. */
const [rounds, adoptionsAtOnce] = [10, 20];

type User = Awaited<ReturnType<typeof newUser>>;

interface Sent {
  plays: number;
  liked: Set<string>;
  newestPosition: Map<string, string>;
}

const time = (second: number) => new Date(Date.now() - 3_600_000 + second * 1000).toISOString();

test('adoptions beside writes of guest and owner lose nothing and count nothing twice', { timeout: 180_000 }, async ({
  api,
  gateway,
  sql,
  skip,
}) => {
  skip(!inject('stack').embedded, 'The project has guests switched off.');
  const sounds = await addSounds(
    sql,
    Array.from({ length: 6 }, () => ({})),
  );

  const newGuest = async (): Promise<User> => {
    const session: Session = (await api.post('/auth/guest').expect(200)).body.data;
    return { ...session, app: clientWith(gateway, session.access_token) };
  };

  /** Sends one play, favorite or position, and records it if the service took it. Anything but 200, 201, 401 fails. */
  async function write({ app }: User, sent: Sent, step: number): Promise<void> {
    const sound = sounds[step % sounds.length] as string;
    const updated_at = time(step);
    const calls = [
      () => app.post(`/sounds/${sound}/play`).set('Idempotency-Key', randomUUID()),
      () => app.post('/favorites').send({ sound_id: sound }),
      () => app.put('/progress').send({ entries: [{ sound_id: sound, position_sec: step, updated_at }] }),
    ];
    const kind = step % calls.length;
    const status = (await calls[kind]?.())?.status;
    expect([200, 201, 401]).toContain(status);
    if (status === 401) return;
    if (kind === 0) sent.plays++;
    if (kind === 1) sent.liked.add(sound);
    if (kind === 2 && updated_at > (sent.newestPosition.get(sound) ?? '')) sent.newestPosition.set(sound, updated_at);
  }

  async function adoptWhileWriting(): Promise<void> {
    const [guest, owner] = [await newGuest(), await newUser(gateway)];
    const sent: Sent = { plays: 0, liked: new Set(), newestPosition: new Map() };
    const steps = Array.from({ length: 12 }, (_, step) => step);
    const adopt = () => owner.app.post('/me/guest').send({ access_token: guest.access_token });
    const [adoption] = await Promise.all([
      write(guest, sent, 0).then(adopt),
      ...steps.map((step) => write(guest, sent, step)),
      ...steps.map((step) => write(owner, sent, step + steps.length)),
    ]);
    expect(adoption.status).toBe(200);

    const [rows] = await sql`
      select
        (select coalesce(sum(plays), 0)::int from public.history where user_id = ${owner.user.id}) as plays,
        (select array_agg(sound_id order by sound_id) from public.favorites where user_id = ${owner.user.id}) as liked,
        (select json_object_agg(sound_id, private.iso_time(updated_at)) from public.progress
          where user_id = ${owner.user.id}) as positions`;
    expect({ ...rows, liked: rows?.['liked'] ?? [], positions: rows?.['positions'] ?? {} }).toEqual({
      plays: sent.plays,
      liked: [...sent.liked].sort(),
      positions: Object.fromEntries(sent.newestPosition),
    });
    const orphans = await sql`
      select from public.favorites where user_id = ${guest.user.id}
      union all select from public.history where user_id = ${guest.user.id}
      union all select from public.progress where user_id = ${guest.user.id}
      union all select from auth.users where id = ${guest.user.id}`;
    expect(orphans).toHaveLength(0);
  }

  for (let round = 0; round < rounds; round++)
    await Promise.all(Array.from({ length: adoptionsAtOnce }, adoptWhileWriting));
});
