import { randomUUID } from 'node:crypto';
import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@supabase/supabase-js';
import { expect, test as plain } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { type ProxiedRequest, startNetwork } from '../../../test/support/network.ts';
import { catalogueOf, rowsOf } from './catalogue-of.ts';
import { type EmptyProject, startEmptyProject } from './empty-project.ts';
import { importInto, makeFolder, picture, startExport } from './folder.ts';

const test = plain.extend<{ $file: { source: EmptyProject } }>({
  source: [
    fixture(async (use) => {
      const project = await startEmptyProject();
      await fill(project);
      await use(project);
      await project.stop();
    }),
    { scope: 'file' },
  ],
});

/** Fills a project with imported sounds and with sounds made by hand: other names and types, odd texts, hidden rows. */
async function fill(project: EmptyProject) {
  const { sql, apiUrl, secretKey } = project;
  const [parent] = await sql`
    insert into public.categories (slug, name, description, sort_order) values ('calm', 'Calm', 'For the evening', 2) returning id`;
  await sql`
    insert into public.categories (slug, name, parent_id, is_active)
    values ('deep-calm', 'Deep calm', ${parent?.['id']}, true), ('gone', 'Gone', null, false)`;
  const folder = await makeFolder({
    'calm/bowl.wav': tone(),
    'calm/bowl.jpg': await picture(),
    'calm/wind.wav': tone(),
    'sounds.csv':
      'file,key,title,tags,frequency_hz\ncalm/bowl.wav,,Bowl,"a, b",174.61\ncalm/bowl.wav,again,Bowl again,,\n',
  });
  expect(await importInto(project, folder)).toMatchObject({ code: 0, stderr: '' });
  const { storage } = createClient(apiUrl, secretKey);
  const wav = tone();
  await storage.from('audio').upload('hand/f3.wav', wav, { contentType: 'audio/x-wav' });
  await storage.from('audio').upload('hand/F3.wav', wav, { contentType: 'audio/wav' });
  await storage.from('covers').upload('hand/f3.png', await picture('webp'), { contentType: 'image/png' });
  await sql`
    insert into public.sounds (title, description, category, tags, audio_path, cover_image_path, is_featured, is_active, sort_order)
    values
      ('By hand', ${' two\nlines, "quoted"\r\n '}, 'deep-calm', array['a, b', '[c]'], 'hand/f3.wav', 'hand/f3.png', true, true, -3),
      ('-', '-', null, '{}', 'hand/F3.wav', null, false, true, 0),
      ('Silent', null, 'gone', null, null, 'hand/f3.png', false, true, 0),
      ('Hidden', null, 'calm', null, null, null, false, false, 5)`;
  const [section] = await sql`
    insert into public.home_sections (slug, title, sort_order) values ('picked', 'Picked', 2) returning id`;
  await sql`
    insert into public.home_section_sounds (section_id, sound_id, position)
    select ${section?.['id']}, id, row_number() over (order by title desc) from public.sounds where title <> 'Silent'`;
  await sql`
    insert into public.home_sections (slug, title, mode, rule_type, rule_value, rule_include_children, item_limit, sort_order)
    values ('calm', 'Calm', 'rule', 'category', 'calm', true, 3, 1), ('new', 'New', 'rule', 'newest', null, false, 100, 0)`;
}

async function exported(project: EmptyProject): Promise<string> {
  const folder = join(await makeFolder({}), `export-${randomUUID()}`);
  const command = startExport(folder, project);
  expect([await command.exited, command.output.stderr]).toEqual([0, '']);
  return folder;
}

test('an export makes an equal catalogue in an empty project, and the same export there', async ({
  source,
  onTestFinished,
}) => {
  const folder = await exported(source);
  const target = await startEmptyProject();
  onTestFinished(target.stop);
  const first = await importInto(target, folder);
  expect([first.code, first.stderr]).toEqual([0, '']);
  expect(first.stdout).toContain('7 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.');
  expect(await rowsOf(target)).toEqual(await rowsOf(source));
  expect(await catalogueOf(target)).toEqual(await catalogueOf(source));
  const picks = await target.sql`select position from public.home_section_sounds order by position`;
  expect(picks.slice(0, 3)).toEqual([{ position: 10 }, { position: 20 }, { position: 30 }]);

  const again = await importInto(target, folder);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('0 new, 0 to update, 7 unchanged, 0 left alone, 0 rejected; 0 files');
  const second = await exported(target);
  for (const name of ['sounds.csv', 'categories.csv', 'home_sections.csv', 'export.json'])
    expect(await readFile(join(second, name), 'utf8'), name).toBe(await readFile(join(folder, name), 'utf8'));
});

test('an export downloads only files that are missing or have changed', async ({ source }) => {
  const folder = await exported(source);
  const [first, other] = ['audio/hand/f3.wav', 'audio/hand/F3.wav'].map((name) => join(folder, name));
  const cover = join(folder, 'covers/hand/f3.png');
  await rm(first as string);
  await writeFile(`${first}.part`, 'the beginning');
  await appendFile(cover, 'more');
  const before = await stat(other as string);
  const command = startExport(folder, source);
  expect(await command.exited).toBe(0);
  expect((await stat(other as string)).ino).toBe(before.ino);
  expect((await readFile(first as string)).equals(await readFile(other as string))).toBe(true);
  expect((await readFile(cover)).toString('latin1').endsWith('more')).toBe(false);
});

test('export.json lists files by name, in whatever order they are downloaded', async ({ source }) => {
  const isAudio = ({ path }: ProxiedRequest) =>
    /^\/storage\/v1\/object\/(authenticated\/)?audio\//.test(path);
  const another = Promise.withResolvers<void>();
  let downloads = 0;
  // The first one waits until another is answered.
  const network = await startNetwork(
    source.apiUrl,
    (request) => (isAudio(request) && downloads++ === 0 ? another.promise.then(() => undefined) : undefined),
    (request) => {
      if (isAudio(request)) another.resolve();
      return undefined;
    },
  );
  const folder = await exported({ ...source, apiUrl: network.url });
  const names = Object.keys(JSON.parse(await readFile(join(folder, 'export.json'), 'utf8')).files);
  expect(names.length).toBeGreaterThan(3);
  expect(names).toEqual(names.toSorted());
});

test('the next export continues one that was interrupted', async ({ source }) => {
  const folder = join(await makeFolder({}), 'export');
  const isDownload = ({ method, path }: ProxiedRequest) =>
    method === 'GET' && /^\/storage\/v1\/object\/(authenticated\/)?(audio|covers)\//.test(path);
  const reached = Promise.withResolvers<void>();
  let downloads = 0;
  const network = await startNetwork(source.apiUrl, (request) => {
    if (!isDownload(request) || ++downloads <= 2) return undefined;
    reached.resolve();
    return new Promise(() => {});
  });
  const command = startExport(folder, { ...source, apiUrl: network.url });
  await reached.promise;
  command.kill('SIGINT');
  expect(await command.exited).toBe(1);
  expect(command.output.stderr).toBe('Interrupted. Run the export again to continue.\n');
  expect(await startExport(folder, source).exited).toBe(0);
  expect(await readFile(join(folder, 'sounds.csv'), 'utf8')).toContain('By hand');
});

test('an import does not restore a sound that was deleted between two exports', async ({
  source,
  onTestFinished,
}) => {
  const { sql } = source;
  const folder = await exported(source);
  const [deleted] = await sql`delete from public.sounds where title = '-' returning *`;
  onTestFinished(
    async () =>
      void (await sql`insert into public.sounds ${sql(deleted ?? {}, 'id', 'title', 'audio_path')}`),
  );
  expect(await startExport(folder, source).exited).toBe(0);
  const target = await startEmptyProject();
  onTestFinished(target.stop);
  const { code, stdout } = await importInto(target, folder);
  expect(code).toBe(0);
  expect(stdout).toMatch(/note +audio\/hand\/F3\.wav +Not imported: at the last export no sound had it/);
  expect(await target.sql`select from public.sounds where title = '-'`).toEqual([]);
});

test('an export rejects a folder with other files, and one that it cannot make', async ({ source }) => {
  const taken = await makeFolder({ 'notes.txt': '' });
  const command = startExport(taken, source);
  expect(await command.exited).toBe(1);
  expect(command.output.stderr).toMatch(/^\S+ is not empty, and no export\. Choose another folder\.\n$/);
  for (const file of ['notes.txt', 'notes.txt/below'].map((name) => join(taken, name))) {
    const { exited, output } = startExport(file, source);
    expect([await exited, output.stderr]).toEqual([
      1,
      `${file} cannot be used as a folder (${file.endsWith('below') ? 'ENOTDIR' : 'EEXIST'}). Choose another folder.\n`,
    ]);
  }
});
