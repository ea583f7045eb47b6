import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { databaseTypes } from '@sounds-service/dev/types';
import { compareSchemas } from '@sounds-service/migration/changes';
import { applySchemaFiles } from '@sounds-service/migration/schema-files';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

/** Returns the owners of all objects, because pg-delta compares only their grants. */
async function ownersIn(databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  const owners = await sql`
    select pg_describe_object(classid, objid, objsubid) as object, refobjid::regrole::text as owner from pg_shdepend
    where deptype = 'o' and dbid = (select oid from pg_database where datname = current_database())
    order by object`;
  await sql.end();
  return owners.filter(({ object }) => !object.includes('supabase_migrations'));
}

// supabase/schemas declares the schema for readers, and deployments run supabase/migrations. Both must match.
test('the migrations create the declared schema, with the same owners', async () => {
  const [declared, migrated] = await Promise.all([startDatabase(17, 'bare'), startDatabase()]);
  for (const { stop } of [declared, migrated]) onTestFinished(stop);
  const statements = await applySchemaFiles(declared.databaseUrl, new URL('../../supabase/schemas/', import.meta.url));
  const databases = { migrated: migrated.databaseUrl, declared: declared.databaseUrl, statements };
  expect((await compareSchemas(databases)).statements).toEqual([]);
  expect(await ownersIn(databases.migrated)).toEqual(await ownersIn(databases.declared));
});

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
