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

/** Matches the beginning or the end of a level of nesting in SQL. The queries of a `with` do not nest. */
const nesting =
  /\bend (?:if|loop|case)\b|\b(?:end|if|loop|case|begin)\b|(?:\bas (?:not )?(?:materialized )?)?\(\s*(?:select|with|insert|update|delete)\b|[()]/g;

/** Returns the deepest nesting of queries in parentheses, loops, `if` and `case` in a schema file. */
function depthOf(source: string): number {
  const code = source
    .replace(/--.*|'(?:[^']|'')*'/g, '')
    .replace(/\b(?:create (?:or replace )?\w+|drop \w+) if (?:not )?exists/g, '');
  const open: number[] = [];
  let deepest = 0;
  for (const [token] of code.matchAll(nesting)) {
    if (token.startsWith('end') || token === ')') open.pop();
    else open.push(/^(?:\(|begin$|as )\s*$|^as /.test(token) || token === 'begin' ? 0 : 1);
    deepest = Math.max(
      deepest,
      open.reduce((sum, level) => sum + level, 0),
    );
  }
  expect(open).toEqual([]);
  return deepest;
}

test('lines of the schema files have at most 120 characters, and three levels of nesting', () => {
  for (const path of globSync('supabase/schemas/*.sql')) {
    const source = readFileSync(path, 'utf8');
    expect([path, source.split('\n').filter((line) => line.length > 120)]).toEqual([path, []]);
    expect([path, depthOf(source)]).toEqual([path, Math.min(depthOf(source), 3)]);
  }
  expect(depthOf('select (select case when a then (select (select 1)) end)')).toBe(4);
});

test('no schema file selects all columns of a table of Supabase, which has others in a project', () => {
  const files = globSync('supabase/schemas/*.sql').map((path) => readFileSync(path, 'utf8'));
  const all =
    /select (?:(?:objects|users|identities|sessions)\.)?\*\s+from (?:auth|cron|storage)\.\w+|(?:auth|storage)\.\w+%rowtype/g;
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((text) => text.match(all) ?? [])).toEqual([]);
});
