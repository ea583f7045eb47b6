import { once } from 'node:events';
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT } from 'sounds-migration/databases';
import { expect, onTestFinished, test } from 'vitest';
import { watchSchemas } from '../schema-watch.ts';

test('npm run dev reports a saved schema file that is invalid or ahead of the migrations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-watch-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const part of ['supabase/schemas', 'supabase/migrations'])
    await cp(new URL(part, PROJECT), join(folder, part), { recursive: true });
  const file = join(folder, 'supabase/schemas/71_imports.sql');
  let heard = Promise.withResolvers<string>();
  const watcher = watchSchemas((line) => heard.resolve(line), pathToFileURL(`${folder}/`));
  onTestFinished(() => watcher.close());
  await once(watcher, 'ready');

  await appendFile(file, 'alter table public.imports add column finished_at timestamptz;\n');
  expect(await heard.promise).toBe(
    'supabase/schemas is ahead of the migrations. Adds 1, changes 0, drops 0. To write the migration: npm run migration -- name_of_the_change',
  );
  heard = Promise.withResolvers();
  await appendFile(file, 'comment on table public.import is null;\n');
  expect(await heard.promise).toMatch(
    /^supabase\/schemas\/71_imports\.sql:\d+: relation "public\.import" does not exist\n/,
  );
});
