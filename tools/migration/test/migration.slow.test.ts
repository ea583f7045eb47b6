import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { writeBaseline } from '../baseline.ts';
import { projectFolder, startSchemaDatabases } from '../databases.ts';
import { writeChanges, writeMigration } from '../migration.ts';
import { applySchemaFiles } from '../schema-files.ts';

/** Text of a schema file and its replacement. */
type Edit = [file: string, before: string | RegExp, after: string];

/** Creates a folder with the migrations and the schema files, some of them changed. */
async function projectWith(...edits: Edit[]) {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-schemas-'));
  for (const part of ['supabase/schemas', 'supabase/migrations'])
    await cp(new URL(part, projectFolder), join(folder, part), { recursive: true });
  for (const [file, before, after] of edits) {
    const path = join(folder, 'supabase/schemas', file);
    const text = await readFile(path, 'utf8');
    const changed = text.replace(before, after);
    expect(changed).not.toBe(text);
    await writeFile(path, changed);
  }
  const migrations = join(folder, 'supabase/migrations');
  const written = async (name: string) => {
    const file = (await readdir(migrations)).find((one) => one.endsWith(name)) ?? '';
    return readFile(join(migrations, file), 'utf8');
  };
  return { project: pathToFileURL(`${folder}/`), migrations, written };
}

const column = '  bowl_note text\n';

test('npm run migration writes all changes once, and deletes data only when it is allowed to', async () => {
  const { project, migrations, written } = await projectWith(
    ['31_sounds.sql', column, `  mood text,\n${column}`],
    ['71_imports.sql', / {2}checksum text,\n|comment on column .*imported_sounds\.checksum .*\n/g, ''],
  );
  await writeFile(join(migrations, '29990101000000_of_a_branch.sql'), 'select 1;');
  const before = await readdir(migrations);
  const databases = await startSchemaDatabases(17, project);
  onTestFinished(databases.stop);
  await expect(writeChanges('add_mood', databases, { project, allowDataLoss: false })).rejects.toThrow(
    /drop column "checksum";[\s\S]* --allow-data-loss$/,
  );
  expect(await readdir(migrations)).toEqual(before);
  expect(await writeChanges('add_mood', databases, { project, allowDataLoss: true })).toMatch(
    /^supabase\/migrations\/29990101000001_add_mood.sql: Adds 1, changes 0, drops 1.\nTried on a copy, filled with samples: /,
  );
  const text = await written('01_add_mood.sql');
  expect(text).toMatch(/^-- Adds 1, changes 0, drops 1. [^\n]+\n\n/);
  expect(text).toMatch(/\nalter table "public"."sounds"\s+add column "mood" text;\n/);
  expect(await writeMigration('again', { project })).toMatch(/^Nothing to do/);
});

test('npm run migration names rows that make it fail, and grants nothing PostgreSQL 15 lacks', async () => {
  const cover =
    "    'covers/' || cover_image_path as cover_image_url,\n    duration_sec, cover_placeholder, is_premium\n";
  const { project, written } = await projectWith(
    ['31_sounds.sql', column, `  mood text not null,\n${column}`],
    ['32_lists.sql', cover, '    cover_image_path\n'],
  );
  await expect(writeMigration('add_mood', { project })).rejects.toThrow(
    /_add_mood.sql does not work\. .*\n\ncolumn "mood" .* contains null values/,
  );
  const text = await written('add_mood.sql');
  expect(text).toMatch(/^grant .* select/m);
  expect(text).not.toContain('maintain');
});

test('npm run migration names file, line and statement of a fault in the grammar or a name', async () => {
  const { databaseUrl, stop } = await startDatabase(17, 'bare');
  onTestFinished(stop);
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-schemas-'));
  const first = "-- Comment.\nselect 'ö'; -- two bytes\n\n";
  for (const [statement, message] of [
    ['select 1\n  were a and b;', 'syntax error at or near "a"\n\nwere a and b'],
    ['select 1\n  from public.import;', 'relation "public\\.import" does not exist\n\nselect 1\n  from'],
  ] as const) {
    await writeFile(join(folder, '10_first.sql'), `${first}${statement}\n`);
    const applying = applySchemaFiles(databaseUrl, pathToFileURL(`${folder}/`));
    await expect(applying).rejects.toThrow(new RegExp(`^supabase/schemas/10_first\\.sql:5: ${message}`));
  }
});

test('npm run migration -- --baseline writes the baseline, unless a later migration exists', async () => {
  const { project, migrations, written } = await projectWith(['31_sounds.sql', /$/, 'select 1;\n']);
  const before = await readdir(migrations);
  expect(await written('_baseline.sql')).not.toContain('\nselect 1;');
  writeBaseline(project);
  expect(await readdir(migrations)).toEqual(before);
  expect(await written('_baseline.sql')).toContain('\nselect 1;\n\n-- supabase/schemas/31_sounds_created_at');
  await writeFile(join(migrations, '29990101000000_later.sql'), 'select 1;');
  expect(() => writeBaseline(project)).toThrow('The baseline cannot change after 29990101000000_later.sql.');
});
