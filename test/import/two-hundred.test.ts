import { expect } from 'vitest';
import { addCategory } from '../support/catalogue.ts';
import { newEmail, password, test } from '../support/test.ts';
import { importFolder, makeFolder, picture, tone } from './folder.ts';

const COUNT = 200;

test('two hundred recordings are listed by the service in the order of their folder, and each of them plays', async ({
  gateway,
  sql,
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
  expect(stdout).toContain(`${COUNT} made, 0 updated, 0 left alone, 0 refused.`);

  const signedUp = await fetch(`${gateway.url}/auth/signup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: newEmail(), password }),
  });
  const { data: session } = (await signedUp.json()) as { data: { access_token: string } };
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(gateway.url + path, {
      headers: { Authorization: `Bearer ${session.access_token}` },
    });
    return (await answer.json()) as T;
  };

  type Item = { id: string; title: string; duration_sec: number; cover_image_url: string };
  const listed: Item[] = [];
  let page = '';
  do {
    const { data, next_cursor } = await get<{ data: Item[]; next_cursor: string | null }>(
      `/sounds?category=${category}&limit=100${page}`,
    );
    listed.push(...data);
    page = next_cursor ? `&cursor=${encodeURIComponent(next_cursor)}` : '';
  } while (page);
  expect(listed.map(({ title }) => title)).toEqual(titles);

  for (const { id, title, duration_sec, cover_image_url } of listed) {
    expect(duration_sec).toBe(0.2);
    expect(cover_image_url).toMatch(new RegExp(`^covers/${category}/cover-`));
    const { data: sound } = await get<{ data: { audio_url: string } }>(`/sounds/${id}`);
    const audio = await fetch(sound.audio_url);
    expect(audio.headers.get('content-type')).toBe('audio/wav');
    expect(recordings.get(title)?.equals(Buffer.from(await audio.arrayBuffer())), title).toBe(true);
  }

  const again = await importFolder(folder);
  expect(again.stdout).toContain(`0 new, 0 to update, ${COUNT} unchanged, 0 refused`);
});
