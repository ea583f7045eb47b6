import { expect } from 'vitest';
import { nameOf, pass, test } from './device.ts';
import { cutLists, item, newList, startLists, textsOf, unsent } from './list-device.ts';

test('a refused edit is dropped, and one that does not fit stays until there is room', async ({ device, sql }) => {
  const lists = startLists(device);
  const user = device.account.user?.id ?? '';
  await sql`
    insert into public.lists (user_id, id, name, is_mix, items, updated_at)
    select ${user}, gen_random_uuid(), 'List ' || n, false, '[]', now() - interval '1 day' from generate_series(1, 199) as n`;
  cutLists(device);
  for (const name of ['First', 'Second', 'a\nb']) await lists.save(newList({ name }));
  device.network.before = pass;
  await expect(lists.flush()).rejects.toMatchObject({ reason: 'too_many' });
  expect((await lists.all()).map(({ name, version }) => `${name} ${version}`).slice(0, 2)).toEqual([
    'Second 0',
    'First 1',
  ]);
  device.sent.length = 0;
  await expect(lists.flush()).rejects.toMatchObject({ reason: 'too_many' });
  expect(device.sent).toEqual([]);
  await lists.sync();
  await lists.remove((await lists.all()).at(-1)?.id ?? '');
  await expect(lists.flush()).rejects.toMatchObject({ reason: 'validation', field: 'lists' }); // of the third edit
  await lists.flush();
  expect((await lists.all()).map(({ version }) => version)).not.toContain(0);

  const tooMany = Array.from({ length: 21 }, () => item(crypto.randomUUID()));
  await expect(lists.save(newList({ is_mix: true, items: tooMany }))).rejects.toMatchObject({ reason: 'too_many' });
  await lists.save(newList({ name: ' ' }));
  await expect(lists.flush()).rejects.toMatchObject({ reason: 'validation', field: 'lists' });
  await lists.flush();
  expect(unsent(device)).toEqual([]);
});

test('a removal that comes while an edit finds no room is sent, and the edit with it', async ({ device, sql }) => {
  const lists = startLists(device);
  const user = device.account.user?.id ?? '';
  await sql`
    insert into public.lists (user_id, id, name, is_mix, items, updated_at)
    select ${user}, gen_random_uuid(), 'List ' || n, false, '[]', now() - interval '1 day' from generate_series(1, 200) as n`;
  await lists.sync();
  const oldest = (await lists.all()).at(-1)?.id ?? '';
  const [first, second] = [newList(), newList({ name: 'Second' })];
  for (const [saved, removed] of [
    [first, first.id],
    [second, oldest],
  ] as const) {
    let answered = 0;
    device.network.after = async (request) => {
      if (nameOf(request) === 'PUT /lists' && answered++ === 0) await lists.remove(removed);
      return undefined;
    };
    await lists.save(saved);
    await lists.flush().catch(() => {}); // may tell of the first answer
    await lists.flush();
    expect([answered, unsent(device)]).toEqual([expect.toSatisfy((count) => count > 1), []]);
  }
  expect(await textsOf(lists)).toContain('Second 1: ');
});
