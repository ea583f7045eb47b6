import { expect } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { importFolder, makeFolder, picture } from './folder.ts';

const COUNT = 200;

test('two hundred recordings are listed by the service in the order of their folder, and each of them plays', async ({
  api,
  sql,
  user,
}) => {
  const category = await addCategory(sql);
  const titles = Array.from({ length: COUNT }, (_, index) => `Bowl ${index + 1}`);
  const recordings = new Map(titles.map((title) => [title, tone()]));
  const files = [...recordings].map(([title, recording]) => [`${category}/${title}.wav`, recording] as const);
  const folder = await makeFolder({
    ...Object.fromEntries(files),
    [`${category}/cover.jpg`]: await picture(),
  });
  const { code, stdout, stderr } = await importFolder(folder);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`${COUNT} made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.`);

  const get = async (path: string) => {
    const { body } = await api.get(path).auth(user.access_token, bearer).expect(200);
    return body;
  };
  const first = await get(`/sounds?category=${category}&limit=100`);
  const second = await get(`/sounds?category=${category}&limit=100&cursor=${first.next_cursor}`);
  expect(second.next_cursor).toBeNull();
  const listed: Record<string, string>[] = [...first.data, ...second.data];
  expect(listed.map(({ title }) => title)).toEqual(titles);

  for (const { id, title = '', duration_sec, cover_image_url } of listed) {
    expect(duration_sec).toBe(0.2);
    expect(cover_image_url).toMatch(new RegExp(`^covers/${category}/cover-`));
    const { data } = await get(`/sounds/${id}`);
    const audio = await fetch(data.audio_url);
    expect(audio.headers.get('content-type')).toBe('audio/wav');
    expect(recordings.get(title)?.equals(Buffer.from(await audio.arrayBuffer())), title).toBe(true);
  }

  const again = await importFolder(folder);
  expect(again.stdout).toContain(`0 new, 0 to update, ${COUNT} unchanged, 0 left alone, 0 rejected`);
});
