import { once } from 'node:events';
import { appendFile, cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFolder } from '@sounds-service/migration/databases';
import { expect, onTestFinished, test } from 'vitest';
import { watchSchemas } from '../schema-watch.ts';

test('npm run dev reports a saved schema file that is invalid or ahead of the migrations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-watch-'));
  for (const part of ['supabase/schemas', 'supabase/migrations'])
    await cp(new URL(part, projectFolder), join(folder, part), { recursive: true });
  let heard = Promise.withResolvers<string>();
  const watcher = watchSchemas((line) => heard.resolve(line), pathToFileURL(`${folder}/`));
  onTestFinished(() => watcher.close());
  await once(watcher, 'ready');
  const add = (file: string, statement: string) =>
    appendFile(join(folder, 'supabase/schemas', file), `${statement};\n`);
  await add('71_imports.sql', 'alter table public.imports add column finished_at timestamptz');
  expect(await heard.promise).toBe(
    'supabase/schemas is ahead of the migrations. Adds 1, changes 0, drops 0. To write the migration: npm run migration -- name_of_the_change',
  );
  heard = Promise.withResolvers();
  await add('10_foundations.sql', 'comment on table public.import is null');
  expect(await heard.promise).toMatch(
    /^supabase\/schemas\/10_foundations\.sql:\d+: relation "public\.import" does not exist\n/,
  );
});
