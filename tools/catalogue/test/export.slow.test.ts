import { execFile, spawnSync } from 'node:child_process';
import { appendFile, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import { createClient } from '@supabase/supabase-js';
import { expect, inject, onTestFinished } from 'vitest';
import { endpoints } from '../../../src/app.ts';
import { tone } from '../../../test/support/audio.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { startNetwork } from '../../../test/support/network.ts';
import { run } from '../../../test/support/processes.ts';
import { clientWith, newEmail, password, test } from '../../../test/support/test.ts';
import { put } from '../project/storage.ts';
import { catalogueOf, type EmptyProject, startEmptyProject } from './empty-project.ts';
import { picture } from './files.ts';
import { envOf, exportFrom, importInto, makeFolder, measureFacts, startImport, type Target } from './folder.ts';
import { isDownload } from './proxy.ts';

const startExport = (folder: string, target: Target) => run(['tools/catalogue/export/main.ts', folder], envOf(target));

const exportInto = async (folder: string, target: Target) =>
  expect(await exportFrom(target, folder)).toMatchObject({ code: 0, stderr: '' });

/** Makes a project with imported and hand-made sounds, the latter with unusual names, types, texts and hidden rows. */
async function startFilledProject() {
  const project = await startEmptyProject();
  const { sql, apiUrl, secretKey } = project;
  const [calm] = await sql`
    insert into public.categories (slug, name, description, sort_order)
    values ('calm', 'Calm', 'For the evening', 2) returning id`;
  await sql`
    insert into public.categories (slug, name, parent_id, is_active)
    values ('deep-calm', 'Deep calm', ${calm?.['id']}, true), ('gone', 'Gone', null, false)`;
  const folder = await makeFolder({
    'calm/bowl.wav': tone(),
    'calm/bowl.jpg': await picture(),
    'calm/wind.wav': tone(),
    'sounds.csv': 'file,key,title,tags\ncalm/bowl.wav,,Bowl,"a, b"\ncalm/bowl.wav,again,Bowl again\n',
  });
  expect(await importInto(project, folder)).toMatchObject({ code: 0, stderr: '' });
  const client = createClient(apiUrl, secretKey);
  const [wav, png] = [tone(), await picture('webp')];
  await put(client, { bucket: 'audio', path: 'hand/f3.wav', type: 'audio/x-wav' }, wav);
  await put(client, { bucket: 'audio', path: 'hand/F3.wav', type: 'audio/wav' }, wav);
  await put(client, { bucket: 'covers', path: 'hand/f3.png', type: 'image/png' }, png);
  const text = ' two\nlines, "quoted"\r\n ';
  await sql`
    insert into public.sounds (title, description, category, tags, audio_path, cover_image_path, is_active, sort_order)
    values
      ('By hand', ${text}, 'deep-calm', array['a, b', '[c]'], 'hand/f3.wav', 'hand/f3.png', true, -3),
      ('-', '-', null, '{}', 'hand/F3.wav', null, true, 0),
      ('Silent', '\\-', 'gone', '{-}', null, 'hand/f3.png', true, 0),
      (${'Hidden\nunder  two lines'}, null, 'calm', null, null, null, false, 5)`;
  await sql`update public.sounds set is_featured = true, is_premium = true, frequency_hz = 174.61 where title = 'By hand'`;
  await sql`
    insert into public.home_sections
      (slug, title, mode, rule_type, rule_value, rule_include_children, item_limit, sort_order)
    values
      ('picked', 'Picked', 'manual', null, null, false, 20, 2),
      ('calm', 'Calm', 'rule', 'category', 'calm', true, 3, 1),
      ('new', 'New', 'rule', 'newest', null, false, 100, 0)`;
  await sql`
    insert into public.home_section_sounds (section_id, sound_id, position)
    select home_sections.id, sounds.id, row_number() over (order by sounds.title desc)
    from public.home_sections, public.sounds where slug = 'picked' and sounds.title <> 'Silent'`;
  return project;
}

test('an interrupted export continues, restores an equal catalogue, then fetches only changes', {
  tags: ['ffmpeg'],
  timeout: 60_000,
}, async () => {
  const source = await startFilledProject();
  const measuring = await measureFacts(source);
  expect(measuring).toMatchObject({ code: 0, stderr: '' });
  expect(measuring.stdout).toMatch(/updated +covers\/hand\/f3\.png +2 sounds\n(.*\n)*3 files measured, 0 rejected\./);
  expect(
    await source.sql`
      select title from public.sounds
      where (audio_path is null) <> (true_peak_dbtp is null or waveform is null or duration_sec is null)
        or (cover_image_path is null) <> (cover_placeholder is null)`,
  ).toEqual([]);
  const catalogue = await catalogueOf(source);

  const old = { loudness_lufs: -42 };
  await source.sql`update public.imported_files set version = 1, facts = facts || ${source.sql.json(old)}`;
  await source.sql`update public.sounds set ${source.sql(old)} where audio_path is not null`;
  await source.sql`update public.sounds set loudness_lufs = -9 where title = 'Wind'`;
  const renewing = await measureFacts(source);
  expect(renewing).toMatchObject({ code: 0, stderr: '' });
  expect(renewing.stdout).toContain('4 files measured, 0 rejected.');
  expect(await source.sql`select title from public.sounds where loudness_lufs = -9`).toEqual([{ title: 'Wind' }]);
  await source.sql`
    update public.sounds set loudness_lufs = (
      select (facts ->> 'loudness_lufs')::numeric from public.imported_files
      where audio_path like '%' || left(checksum, 12) || '%') where title = 'Wind'`;
  expect(await catalogueOf(source)).toEqual(catalogue);
  const done = startImport(['--facts'], source);
  expect(await done.exited).toBe(0);
  expect(done.output.stdout).toBe('0 files measured, 0 rejected.\n');
  await source.sql`update storage.objects set metadata = metadata - 'mimetype' where name = 'hand/F3.wav'`;
  const folder = await makeFolder({ '.DS_Store': '', 'Thumbs.db': '', 'desktop.ini': '', '@eaDir/x.jpg': '' });
  const third = Promise.withResolvers<void>();
  let downloads = 0;
  const broken = await startNetwork(source.apiUrl, (request) => {
    if (!isDownload(request) || ++downloads <= 2) return undefined;
    third.resolve();
    return new Promise(() => {});
  });
  const interrupted = startExport(folder, { ...source, apiUrl: broken.url });
  await third.promise;
  interrupted.kill('SIGINT');
  expect(await interrupted.exited).toBe(1);
  expect(interrupted.output.stderr).toBe('Interrupted. Run the export again to continue.\n');

  await exportInto(folder, source);
  const exported = await readFile(join(folder, 'export.json'), 'utf8');
  const names = Object.keys(JSON.parse(exported).files);
  expect(names).toEqual(names.toSorted());

  const target = await startEmptyProject();
  const first = await importInto(target, folder);
  expect([first.code, first.stderr]).toEqual([0, '']);
  expect(first.stdout).toContain('7 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.');
  expect(await catalogueOf(target)).toEqual(catalogue);
  const picks = await target.sql`select position from public.home_section_sounds order by position`;
  expect(picks.slice(0, 3)).toEqual([{ position: 10 }, { position: 20 }, { position: 30 }]);

  const again = await importInto(target, folder);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('0 new, 0 to update, 7 unchanged, 0 left alone, 0 rejected; 0 files');
  const second = join(await makeFolder(), 'second');
  await exportInto(second, target);
  for (const name of ['sounds.csv', 'categories.csv', 'home_sections.csv', 'export.json'])
    expect(await readFile(join(second, name), 'utf8'), name).toBe(await readFile(join(folder, name), 'utf8'));

  const [bowl, wind] = await target.sql`
    select audio_path, cover_image_path from public.sounds where title in ('Bowl', 'Wind') order by title`;
  const damaged = join(second, 'audio', bowl?.['audio_path']);
  const cover = join(second, 'covers', bowl?.['cover_image_path']);
  const original = await Promise.all([readFile(damaged), readFile(cover)]);
  await rm(damaged);
  await writeFile(`${damaged}.part`, 'the beginning');
  await appendFile(cover, 'more');
  const { ino, mtimeMs } = await stat(join(second, 'audio/hand/f3.wav'));
  await utimes(join(second, 'audio/hand/f3.wav'), mtimeMs / 1000, mtimeMs / 1000 - 2); // FAT stores even seconds
  const [trashed] = await target.sql`select id from public.sounds where title = 'Wind'`;
  const written = async () => (await Promise.all(['sounds.csv', 'home_sections.csv'].map(read))).join();
  const read = (name: string) => readFile(join(second, name), 'utf8');
  expect((await written()).split(trashed?.['id'])).toHaveLength(3);
  await target.sql`delete from public.sounds where title = 'Wind'`;
  await exportInto(second, target);
  expect(await written()).not.toContain(trashed?.['id']);
  expect((await stat(join(second, 'audio/hand/f3.wav'))).ino).toBe(ino);
  expect(await Promise.all([readFile(damaged), readFile(cover)])).toEqual(original);

  await target.sql`delete from public.imported_sounds where fields ->> 'title' = 'Wind'`;
  const { stdout } = await importInto(target, second, '--dry-run');
  expect(stdout).toMatch(
    new RegExp(`note +audio/${wind?.['audio_path']} +Not imported: no sound had it at the last export`),
  );
  expect(stdout).toContain('0 new, 0 to update, 6 unchanged, 0 left alone, 0 rejected; 0 files');
});

test('admin.undo_since takes back an import with --overwrite over 50 corrected sounds', async () => {
  const project = await startEmptyProject();
  const lines = Array.from({ length: 50 }, (_, n) => `,key ${n},Sound ${n},As in the sheet`);
  const folder = await makeFolder({ 'sounds.csv': `file,key,title,description\n${lines.join('\n')}\n` });
  expect(await importInto(project, folder)).toMatchObject({ code: 0 });
  await project.sql`update public.sounds set description = 'Corrected'`;
  const corrected = await catalogueOf(project);
  const [clock] = await project.sql`select clock_timestamp()::text as start`;
  expect((await importInto(project, folder, '--overwrite')).stdout).toContain('50 updated');
  const undone = await project.sql`select * from admin.undo_since(${clock?.['start']})`;
  expect(undone).toEqual([{ outcome: 'restored', rows: '50', named: null }]);
  expect(await catalogueOf(project)).toEqual(corrected);
});

test.for([
  ['', 'is neither empty nor an export'],
  ['notes.txt', 'cannot be used as a folder (EEXIST)'],
])('an export into %j of a folder with notes is rejected', async ([name = '', problem]) => {
  const folder = join(await makeFolder({ 'notes.txt': '' }), name);
  const { code, stderr } = await exportFrom(inject('stack'), folder);
  expect([code, stderr]).toEqual([1, `${folder} ${problem}. Choose another folder.\n`]);
});

const runProgram = promisify(execFile);
const { stdout: installed } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' });
// pg_dump cannot read servers of a later release.
const release = Number(/\) (\d+)/.exec(installed ?? '')?.[1]) >= 17 ? 17 : 15;

/** Returns the rows of a backup that belong to neither the accounts nor the catalogue. */
const personalRows = async ({ sql }: EmptyProject) =>
  await sql`
  select to_jsonb(favorites) as row from public.favorites union all select to_jsonb(history) from public.history
  union all select to_jsonb(play_counts) from public.play_counts union all select to_jsonb(keys) from private.api_keys as keys`;

// Follows docs/operate.md: pg_dump for the database, npm run export for the files.
test('a project restored from its backups has its accounts, keys, favorites and sounds', {
  tags: ['postgresql'],
  timeout: 60_000,
}, async () => {
  const old = await startEmptyProject(release);
  await importInto(old, await makeFolder({ 'bowl.wav': tone(), 'bowl.jpg': await picture() }));
  const account = { email: newEmail(), password };
  const { data: before } = await createClient(old.apiUrl, old.publishableKey).auth.signUp(account);
  await old.sql.unsafe(`
    insert into public.favorites (user_id, sound_id) select users.id, sounds.id from auth.users, public.sounds;
    select public.count_play(sounds.id, users.id) from auth.users, public.sounds;
    select admin.create_api_key('Partner', '${account.email}')`);

  const backup = await makeFolder();
  const [data, files] = [join(backup, 'data.sql'), join(backup, 'files')];
  const parts = ['--data-only', '--schema=auth', '--schema=public', '--schema=private'];
  const others = ['--exclude-table=auth.schema_migrations'];
  await runProgram('pg_dump', [...parts, ...others, `--file=${data}`, as(superuserName, old.databaseUrl)]);
  await exportInto(files, old);

  const restored = await startEmptyProject(release);
  const replica = ['--command', 'set session_replication_role = replica'];
  const strict = ['--quiet', '--single-transaction', '--set', 'ON_ERROR_STOP=1'];
  await runProgram('psql', [as(superuserName, restored.databaseUrl), ...strict, ...replica, '--file', data]);
  const { code, stdout, stderr } = await importInto(restored, files);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('0 made, 1 updated, 0 unchanged, 0 left alone, 0 rejected.');
  expect(await catalogueOf(restored)).toEqual(await catalogueOf(old));
  expect(await personalRows(old)).toHaveLength(4);
  expect(await personalRows(restored)).toEqual(await personalRows(old));
  const { auth } = createClient(restored.apiUrl, restored.publishableKey);
  const { data: after } = await auth.signInWithPassword(account);
  expect(after.user?.id).toBe(before.user?.id);
  expect((await auth.refreshSession(before.session ?? undefined)).error).toBeNull();

  expect(await restored.sql`select id from private.catalogue_feed`).toEqual(
    await old.sql`select id from private.catalogue_feed`,
  );
  const gateway = await startGateway({
    SUPABASE_URL: restored.apiUrl,
    SUPABASE_PUBLISHABLE_KEY: restored.publishableKey,
    SUPABASE_SECRET_KEY: restored.secretKey,
  });
  onTestFinished(gateway.close);
  const app = clientWith(gateway, after.session?.access_token ?? '');
  const { data: sounds } = (await app.get('/sounds').expect(200)).body;
  for (const { path } of endpoints.filter(({ method }) => method === 'get'))
    await app.get(path.replace('{id}', sounds[0].id)).expect(200);
});
