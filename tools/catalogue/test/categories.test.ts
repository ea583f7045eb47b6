import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { assignCategories } from '../identify/categories.ts';
import type { Category } from '../shared/fields.ts';
import type { Sound } from '../shared/sound.ts';
import { importFolder, makeFolder, soundsIn, titlesOf } from './folder.ts';

/** Assigns categories to new sounds with these names. @returns the slug of each, the new categories and the notes */
function assign(names: string[], categories: Category[], make = false) {
  const noFile = { audio: undefined, picture: undefined, createdAt: undefined };
  const sounds = names.map((file): Sound => {
    return { file, key: '', fields: {}, sheetFields: {}, isLink: false, notes: [], ...noFile };
  });
  const circumstances = { source: 'x', categories, known: new Map(), make };
  const assigned = assignCategories(sounds, circumstances);
  return { ...assigned, slugs: sounds.map(({ fields }) => fields.category) };
}

test('a category is found by the slug or name of the folder, or a note says that there is none', () => {
  const row = { description: null, sort_order: 0, is_active: true };
  const calm = { ...row, id: '1', slug: 'calm', name: 'Calm nights', parent_id: null };
  const deep = { ...row, id: '2', slug: 'deep', name: 'Deep', parent_id: '1' };
  const soft = { ...row, id: '3', slug: 'soft-rain', name: 'Leise', parent_id: null };
  const found = ['calm/a.wav', 'calm/Deep/c.wav', 'CALM NIGHTS/x/b.wav', 'deep/d.wav', 'Soft rain/h.wav'];
  const { slugs, notes } = assign([...found, 'e.wav', 'new/f.wav', 'new/g.wav'], [calm, deep, soft]);
  expect(slugs).toEqual(['calm', 'deep', 'calm', 'deep', 'soft-rain', undefined, undefined, undefined]);
  const remedy = 'Add --make-categories to make it, or enter another in the column "category" of sounds.csv.';
  const reason = `No category has the slug or name "new". ${remedy}`;
  expect(notes).toEqual([{ where: 'new/ (2 files)', reason }]);
  expect(assign(['deep/d.wav'], [calm, deep], true).slugs).toEqual(['deep']);
});

test('folders whose names result in the same slug become separate categories', () => {
  const folders = ['睡眠 1', '冥想 1', '1', '1++', 'Ärger 1', 'aerger 1'];
  const names = folders.flatMap((folder) => [`${folder}/a.wav`, `Top/${folder}/b.wav`]);
  const { made, slugs } = assign(names, [], true);
  const tops = made.filter(({ parent_id }) => parent_id === null).map(({ name }) => name);
  const subs = made.filter(({ parent_id }) => parent_id !== null).map(({ name }) => name);
  expect([tops.sort(), subs.sort()]).toEqual([['Top', ...folders].sort(), folders.toSorted()]);
  expect(new Set(made.map(({ slug }) => slug)).size).toBe(made.length);
  expect(new Set(slugs).size).toBe(names.length);
  // The slug "1" would match a folder "1" in a later import.
  expect(assign(['睡眠 1/a.wav'], [], true).slugs[0]).toMatch(/^1-[0-9a-f]{8}$/);
  expect(assign(names, made, true)).toEqual({ made: [], notes: [], slugs });
});

test('--make-categories makes intentions and sub-intentions from folders', async ({ sql }) => {
  const name = `Rain ${newSlug('on')}`;
  const [slug, sub] = [name.toLowerCase().replace(' ', '-'), newSlug('roofs')];
  const names = [`${name}/a.wav`, `${name}/${sub}/b.wav`, `${name}/${sub}/deeper/c.wav`];
  const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, tone()])));
  const { code, stdout } = await importFolder(folder, '--make-categories');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`new +${slug} +category "${slug}"`));
  const [below] = await sql`
    select sub.name, top.name as parent from public.categories as sub
      join public.categories as top on top.id = sub.parent_id where sub.slug = ${sub} and top.slug = ${slug}`;
  expect(below).toEqual({ name: sub, parent: name });
  expect(titlesOf(await soundsIn(sql, slug))).toEqual(['A']);
  expect(titlesOf(await soundsIn(sql, sub))).toEqual(['B', 'C']);
});
