import { readdirSync, readFileSync } from 'node:fs';
import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import { startBareDatabase } from '@sounds-service/local-supabase/scratch-database';
import type { Action, FactBase, StableId } from '@supabase/pg-delta';
import { nameOf, planChanges, withPools } from './changes.ts';
import { projectFolder } from './databases.ts';
import { applySchemaFiles } from './schema-files.ts';

const schemasFolder = new URL('supabase/schemas/', projectFolder);

/** A difference between a database and supabase/schemas. */
interface Difference {
  /** File and line that declare the object. */
  source: string;
  /** Statement that fixes it, as the role `postgres`. */
  fix: string;
}

/**
 * Compares a database with supabase/schemas. Ignores what administrators added under other names.
 * @returns the differences, in the order in which their fixes can be run
 * @throws if the database cannot be reached
 */
export async function checkDatabase(databaseUrl: string): Promise<Difference[]> {
  const { version, has_passkeys } = await ageOf(databaseUrl);
  const declared = await startBareDatabase(version < 17 ? 15 : 17);
  try {
    if (!has_passkeys)
      await withPools([as(superuserName, declared.databaseUrl)], (pool) =>
        pool.query('drop table auth.webauthn_credentials'),
      );
    const statements = await applySchemaFiles(declared.databaseUrl, schemasFolder);
    const { plan, desired } = await planChanges(databaseUrl, declared.databaseUrl, statements);
    return plan.actions.flatMap((action) => {
      const fix = isAddition(action, desired) || isGrantToOwner(action) ? null : fixOf(action, statements);
      return fix === null ? [] : [{ source: declarationOf(subjectOf(action)), fix }];
    });
  } finally {
    await declared.stop();
  }
}

/** Returns SQL that fixes the differences, and names their files in comments. */
export function scriptOf(differences: readonly Difference[]): string {
  const fixes = differences.map(({ source, fix }) => `\n-- ${source}\n${fix};\n`);
  // A function may use a view that a later statement creates.
  return `set check_function_bodies = off;\n${fixes.join('')}`;
}

/** Returns the release of Postgres, and whether Auth has passkeys: they differ with the age of a project. */
async function ageOf(databaseUrl: string) {
  const ask = () =>
    withPools([databaseUrl], (pool) =>
      pool.query<{ version: number; has_passkeys: boolean }>(
        `select current_setting('server_version_num')::integer / 10000 as version,
          to_regclass('auth.webauthn_credentials') is not null as has_passkeys`,
      ),
    );
  const { rows } = await ask().catch((error: Error & { code?: string }) => {
    throw new Error(
      `The database cannot be reached: ${error.message || error.code}. Copy its address from Connect, Session pooler, in the dashboard, and put the password into it.`,
    );
  });
  return rows[0] as (typeof rows)[number];
}

/** Tells whether an object was added to the database and is no policy, grant or overload of a declared object. */
function isAddition({ verb, destroys: [dropped] }: Action, desired: FactBase): boolean {
  if (verb !== 'drop' || dropped === undefined || desired.has(dropped)) return false;
  if (dropped.kind === 'acl') return !desired.has(dropped.target);
  if (dropped.kind === 'policy') return !desired.has({ kind: 'table', schema: dropped.schema, name: dropped.table });
  if (dropped.kind !== 'function') return true;
  return !desired
    .facts()
    .some(({ id }) => id.kind === 'function' && id.schema === dropped.schema && id.name === dropped.name);
}

/** Tells whether an action grants or revokes rights of `postgres` on `public`. As owner of the database it has all. */
const isGrantToOwner = ({ produces, destroys, consumes }: Action) =>
  [...produces, ...destroys, ...consumes].some(
    (id) =>
      id.kind === 'acl' && id.grantee === 'postgres' && id.target.kind === 'schema' && id.target.name === 'public',
  );

function subjectOf({ produces, destroys, consumes }: Action): StableId | undefined {
  const id = produces[0] ?? destroys[0] ?? consumes[0];
  return id !== undefined && 'target' in id ? id.target : id;
}

/** Returns the statement that fixes a difference, or null if the statement of a later action includes it. */
function fixOf(action: Action, statements: readonly string[]): string | null {
  const subject = subjectOf(action);
  if (subject?.kind === 'table') return [action.sql, ...revokedColumnGrants(action, subject, statements)].join(';\n');
  if (subject?.kind !== 'trigger' || subject.schema !== 'auth') return action.sql;
  // On tables of Auth, the role `postgres` may replace triggers, but neither drop nor enable them.
  if (action.verb === 'drop') return null;
  const written = statements.find((statement) => nameOf(statement) === `trigger ${subject.name}`);
  return (written ?? action.sql).replace(/^create trigger/i, 'create or replace trigger');
}

/** Returns the declared grants of columns that a statement revokes: revoking all on a table includes its columns. */
function revokedColumnGrants(
  { sql }: Action,
  { schema, name }: { schema: string; name: string },
  statements: readonly string[],
): string[] {
  const [, role] = /^revoke all on table .* from "?(\w+)"?/i.exec(sql) ?? [];
  const granted = new RegExp(`^grant [^;]*\\([^;]*\\) on ${schema}\\.${name} to [^;]*\\b${role}\\b`, 'i');
  return role === undefined ? [] : statements.filter((statement) => granted.test(statement));
}

/** Returns file and line of the statement that declares an object, or a part of a table. */
function declarationOf(id: StableId | undefined): string {
  const name = id === undefined || !('name' in id) ? '' : id.name;
  const schema = id !== undefined && 'schema' in id ? `${id.schema}.` : '';
  const names =
    id !== undefined && 'table' in id ? [name, `"${name}"`, `${schema}${id.table}`] : [`${schema}${name}`, name];
  for (const each of names) {
    const pattern = new RegExp(`^ *create [a-z ]*${RegExp.escape(each)}(?![\\w.])`, 'm');
    for (const file of readdirSync(schemasFolder).toSorted()) {
      const text = readFileSync(new URL(file, schemasFolder), 'utf8');
      const position = text.search(pattern);
      if (position >= 0) return `supabase/schemas/${file}:${text.slice(0, position).split('\n').length}`;
    }
  }
  return 'supabase/schemas';
}
