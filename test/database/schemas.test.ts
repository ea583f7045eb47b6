import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { databaseTypes } from '@sounds-service/dev/types';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import { compareSchemas } from '@sounds-service/migration/changes';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { expectDeclared } from './declared.ts';

test('the migrations create the declared schema, and the comparison finds differences', async () => {
  const databases = await expectDeclared(17);
  const sql = postgres(as(superuserName, databases.migrated), { max: 1, onnotice() {} });
  await sql.unsafe(`
      comment on function public.get_sound is null;
      revoke execute on function public.get_sound from authenticated;
      alter function private.list_categories reset enable_seqscan;
      alter table public.favorites disable trigger favorites_limit;
      drop trigger sounds_service_limit_metadata on auth.users`);
  await sql.end();
  const { statements } = await compareSchemas(databases);
  for (const missing of [
    /^comment on function "public"."get_sound"/,
    /^grant execute on function "public"."get_sound"\(uuid\) to "authenticated"/,
    /^create or replace function private.list_categories\(\) [\s\S]* set enable_seqscan = off/,
    /^alter table "public"."favorites"\s+enable trigger "favorites_limit"/,
    /^create trigger sounds_service_limit_metadata/,
  ])
    expect(statements).toContainEqual(expect.stringMatching(missing));
}, 60_000); // compares all objects twice

test('src/supabase/database.types.ts equals the output of npm run types', async () => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  expect(await databaseTypes(databaseUrl)).toBe(await readFile('src/supabase/database.types.ts', 'utf8'));
});

test('no schema file selects all columns of a table of Supabase, which has others in a project', () => {
  const files = globSync('supabase/schemas/*.sql').map((path) => readFileSync(path, 'utf8'));
  const all =
    /select (?:(?:objects|users|identities|sessions)\.)?\*\s+from (?:auth|cron|storage)\.\w+|(?:auth|storage)\.\w+%rowtype/g;
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((text) => text.match(all) ?? [])).toEqual([]);
});
