import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { assignCategories } from '../identify/categories.ts';
import type { Category } from '../project/catalogue.ts';
import { importFolder, makeFolder, readFiles, soundsIn } from './folder.ts';

const tones = (names: string[]) => Object.fromEntries(names.map((name) => [name, tone()]));

const category = (slug: string, name: string, parent_id: string | null = null): Category => {
  return { id: slug, slug, name, description: null, parent_id, sort_order: 0, is_active: true };
};

/** Assigns categories to new sounds of these names. @returns the category of each, with those made and the notes */
async function assign(names: string[], categories: Category[], make = false) {
  const { sounds } = await readFiles(tones(names));
  const circumstances = { source: 'x', categories, known: new Map(), answers: {}, ask: undefined, make };
  const { made, notes } = await assignCategories(sounds, circumstances);
  return {
    made,
    notes,
    slugs: Object.fromEntries(sounds.map(({ file, fields }) => [file, fields.category])),
  };
}

test('a category is found by the slug or name of the folder, or a note says that there is none', async () => {
  const stored = [category('calm', 'Calm nights'), category('deep', 'Deep', 'calm')];
  const names = [
    'calm/a.wav',
    'CALM NIGHTS/x/b.wav',
    'calm/Deep/c.wav',
    'deep/d.wav',
    'e.wav',
    'new/f.wav',
    'new/g.wav',
  ];
  const { slugs, notes } = await assign(names, stored);
  const [calm, deep, none] = ['calm', 'deep', undefined];
  expect(Object.values(slugs)).toEqual([calm, deep, calm, deep, none, none, none]);
  const reason = expect.stringMatching(
    /^No category: there is none with the slug or name "new"\. --make-categ/,
  );
  expect(notes).toEqual([{ where: 'new/ (2 files)', reason }]);
});

test('folders whose names make the same slug become categories of their own', async () => {
  const folders = ['睡眠 1', '冥想 1', '1', '1++', '1#', 'Ärger 1', 'aerger 1'];
  const names = folders.flatMap((folder) => [`${folder}/a.wav`, `Top/${folder}/b.wav`]);
  const { made, slugs } = await assign(names, [], true);
  expect(
    made.map(({ name, parent_id }) => `${parent_id && 'Top/'}${name}`.replace('null', '')).sort(),
  ).toEqual(['Top', ...folders, ...folders.map((folder) => `Top/${folder}`)].sort());
  expect(new Set(made.map(({ slug }) => slug)).size).toBe(made.length);
  expect(new Set(Object.values(slugs)).size).toBe(names.length);
  expect(await assign(names, made, true)).toEqual({ made: [], notes: [], slugs });
});

test('--make-categories makes intentions and sub-intentions of folders', async ({ sql }) => {
  const name = `Rain ${newSlug('on')}`;
  const [slug, sub] = [name.toLowerCase().replace(' ', '-'), newSlug('roofs')];
  const folder = await makeFolder(
    tones([`${name}/a.wav`, `${name}/${sub}/b.wav`, `${name}/${sub}/deeper/c.wav`]),
  );
  const dry = await importFolder(folder, '--make-categories', '--dry-run');
  expect(dry.stdout).toMatch(new RegExp(`new +${slug} +category "${slug}"`));
  expect(await sql`select from public.categories where slug = ${slug}`).toEqual([]);
  expect((await importFolder(folder, '--make-categories')).code).toBe(0);
  const [below] = await sql`
    select sub.name, top.name as parent from public.categories as sub
      join public.categories as top on top.id = sub.parent_id where sub.slug = ${sub} and top.slug = ${slug}`;
  expect(below).toEqual({ name: sub, parent: name });
  await importFolder(await makeFolder(tones([`${sub}/d.wav`])), '--make-categories');
  expect((await soundsIn(sql, slug)).map(({ title }) => title)).toEqual(['A']);
  expect((await soundsIn(sql, sub)).map(({ title }) => title)).toEqual(['D', 'B', 'C']);
});
