import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { writeBaseline } from '../baseline.ts';
import { PROJECT } from '../databases.ts';
import { writeMigration } from '../migration.ts';

/** A folder with the schema files, of which one is changed, and with the migrations. */
async function projectWith(file: string, change: (text: string) => string) {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-schemas-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const part of ['supabase/schemas', 'supabase/migrations'])
    await cp(new URL(part, PROJECT), join(folder, part), { recursive: true });
  const path = join(folder, 'supabase/schemas', file);
  const text = await readFile(path, 'utf8');
  expect(change(text)).not.toBe(text);
  await writeFile(path, change(text));
  return { project: pathToFileURL(`${folder}/`), migrations: join(folder, 'supabase/migrations') };
}

test('npm run migration writes the migration of a new column once, after the last one', async () => {
  const { project, migrations } = await projectWith('31_sounds.sql', (text) =>
    text.replace('  bowl_note text\n', '  mood text,\n  bowl_note text\n'),
  );
  await writeFile(join(migrations, '29990101000000_of_a_branch.sql'), 'select 1;');
  expect(await writeMigration('add_mood', { project })).toMatch(
    /^supabase\/migrations\/29990101000001_add_mood.sql: Adds 1, changes 0, drops 0.\nTried on a copy, filled with samples: /,
  );
  expect(await readFile(join(migrations, '29990101000001_add_mood.sql'), 'utf8')).toMatch(
    /^-- Adds 1, changes 0, drops 0. [^\n]+\n\nalter table "public"."sounds"\s+add column "mood" text;\n$/,
  );
  expect(await writeMigration('again', { project })).toMatch(/^Nothing to do/);
});

test('npm run migration grants nothing that PostgreSQL 15 does not know', async () => {
  const { project, migrations } = await projectWith('32_lists.sql', (text) =>
    text.replace(
      "    'covers/' || cover_image_path as cover_image_url,\n    duration_sec\n",
      '    cover_image_path\n',
    ),
  );
  await writeMigration('change_previews', { project });
  const written = (await readdir(migrations)).find((file) => file.endsWith('change_previews.sql')) ?? '';
  const text = await readFile(join(migrations, written), 'utf8');
  expect(text).toMatch(/^grant .* select/m);
  expect(text).not.toContain('maintain');
});

test('npm run migration drops what people entered only when it is allowed to', async () => {
  const { project, migrations } = await projectWith('71_imports.sql', (text) =>
    text.replace(/ {2}checksum text,\n|comment on column .*\.checksum .*\n/g, ''),
  );
  const before = await readdir(migrations);
  await expect(writeMigration('drop_checksums', { project })).rejects.toThrow(
    /drop column "checksum";[\s\S]* --allow-data-loss$/,
  );
  expect(await readdir(migrations)).toEqual(before);
  expect(await writeMigration('drop_checksums', { project, allowDataLoss: true })).toContain('drops 1.');
});

test('npm run migration says so where the migration fails on rows that are there', async () => {
  const { project } = await projectWith('31_sounds.sql', (text) =>
    text.replace('  bowl_note text\n', '  mood text not null,\n  bowl_note text\n'),
  );
  await expect(writeMigration('add_mood', { project })).rejects.toThrow(
    /_add_mood.sql does not work\. .*\n\ncolumn "mood" .* contains null values/,
  );
});

test.for([
  [
    'a name',
    'where is_active and is_featured;',
    'where is_activ and is_featured;',
    'column "is_activ" does not exist',
  ],
  [
    'the grammar',
    'where is_active and is_featured;',
    'were is_active and is_featured;',
    'syntax error at or near "were"',
  ],
] as const)(
  'npm run migration names file, line and statement of a fault in %s',
  async ([, right, wrong, words]) => {
    const { project } = await projectWith('31_sounds.sql', (text) => text.replace(right, wrong));
    const text = await readFile(new URL('supabase/schemas/31_sounds.sql', project), 'utf8');
    const line = text.slice(0, text.indexOf(wrong)).split('\n').length;
    await expect(writeMigration('broken', { project })).rejects.toThrow(
      new RegExp(
        `^supabase/schemas/31_sounds.sql:${line}: ${words}[\\s\\S]*\\n\\n[\\s\\S]*${wrong.slice(0, -1)}`,
      ),
    );
  },
);

test('npm run migration -- --baseline writes the one migration and rejects a second beside it', async () => {
  const { project, migrations } = await projectWith('31_sounds.sql', (text) => `${text}-- A changed line.\n`);
  const [baseline = ''] = await readdir(migrations);
  expect(await readFile(join(migrations, baseline), 'utf8')).not.toContain('-- A changed line.');
  writeBaseline(project);
  expect(await readdir(migrations)).toEqual([baseline]);
  expect(await readFile(join(migrations, baseline), 'utf8')).toContain(
    '\n-- A changed line.\n\n\n-- supabase/schemas/32_',
  );
  await writeFile(join(migrations, '29990101000000_later.sql'), 'select 1;');
  expect(() => writeBaseline(project)).toThrow('The baseline cannot change after 29990101000000_later.sql.');
});
