import {
  type Action,
  encodeId,
  type FactBase,
  type IntegrationProfile,
  type Plan,
  type ProofVerdict,
  type ProveOptions,
  plan,
  provePlan,
  renderPlanFiles,
  resolveProfile,
  supabasePolicy,
  supabaseProfile,
} from '@supabase/pg-delta';
import { formatSqlStatements } from '@supabase/pg-delta/sql-format';
import { Pool } from 'pg';
import type { SchemaDatabases } from './databases.ts';

/** Changes that make a migrated database equal to the schema files. */
export interface SchemaChanges {
  /** Statements in the order in which they can be run. Empty if both are equal. */
  statements: string[];
  /** Sentence such as "Adds 2, changes 1, drops 0." */
  summary: string;
  /** Statements that delete data. */
  losses: string[];
  /** Texts of the migration files. There are several if Postgres needs a commit in between. */
  files: string[];
  /**
   * Runs the statements on a copy of the migrated database, and checks the result and its rows.
   * @returns the problems
   */
  prove(copy: string): Promise<string[]>;
}

/** Changes from one database to another, as planned by pg-delta. */
interface PlannedChanges {
  plan: Plan;
  /** Objects of the second database. */
  desired: FactBase;
  proveOptions: ProveOptions;
}

/** Compares what the schema files declare. Omits Supabase Cron, which is an extension on hosted projects only. */
const profile: IntegrationProfile = {
  ...supabaseProfile,
  handlers: [],
  policy: {
    id: 'sounds-service',
    extends: [supabasePolicy],
    filter: [
      {
        match: { any: [{ schema: 'cron' }, { name: ['cron', 'pg_cron'] }, { target: { name: ['cron', 'pg_cron'] } }] },
        action: 'exclude',
      },
    ],
  },
};

/**
 * Plans the changes from one database to another, with the text of the schema files.
 * @param statements statements of the schema files
 * @throws if a schema file declares an object that pg-delta cannot compare, such as an operator
 */
export function planChanges(from: string, to: string, statements: readonly string[]): Promise<PlannedChanges> {
  return withPools([from, to], async (fromPool, toPool) => {
    const { extract, planOptions, proveOptions } = await resolveProfile(fromPool, profile);
    const source = await extract(fromPool);
    const desired = await extract(toPool);
    const unknown = desired.diagnostics.filter(({ code }) => code === 'unmodeled_kind');
    if (unknown.length > 0) throw new Error(unknown.map(({ message }) => message).join('\n'));
    const generated = plan(source.factBase, desired.factBase, planOptions);
    const actions = generated.actions.map((action) => ({
      ...action,
      sql: asWritten(action.sql, statements) ?? format(action.sql),
    }));
    return { plan: { ...generated, actions }, desired: desired.factBase, proveOptions };
  });
}

/** Compares the migrations with the schema files. */
export async function compareSchemas({
  migrated,
  declared,
  statements,
}: Pick<SchemaDatabases, 'migrated' | 'declared' | 'statements'>): Promise<SchemaChanges> {
  const { plan, desired, proveOptions } = await planChanges(migrated, declared, statements);
  const prove = (copy: string) =>
    withPools([copy], async (pool) => faultsIn(await provePlan(plan, pool, desired, proveOptions)));
  return { ...describe(plan), prove };
}

function faultsIn({ ok, applyError, ...verdict }: ProofVerdict): string[] {
  const name = ({ table }: { table: { schema: string; name: string } }) => `${table.schema}.${table.name}`;
  const faults = [
    ...(applyError ? [`${applyError.message}\n\n${applyError.sql}`] : []),
    ...verdict.dataViolations.map((found) => `Rows of ${name(found)} would be lost or changed.`),
    ...verdict.rewriteViolations.map((found) => `${name(found)} would be rewritten.`),
    ...verdict.driftDeltas.map((delta) => `Still different afterwards: ${JSON.stringify(delta)}`),
  ];
  return ok || faults.length > 0 ? faults : ['pg-delta could not verify the changes.'];
}

/** Returns an object's text in the schema files, because catalogs keep neither lines nor comments. */
function asWritten(generated: string, statements: readonly string[]): string | undefined {
  const name = nameOf(generated);
  const [written, ...others] = statements.filter((statement) => name && nameOf(statement) === name);
  if (others.length > 0) return undefined;
  return /^create or replace /i.test(generated) ? written?.replace(/^create /, 'create or replace ') : written;
}

/** Returns the object that a statement creates, such as "function private.count_play". */
export function nameOf(statement: string): string | undefined {
  const made = /^create (?:or replace )?(?:unique )?(function|view|trigger|policy|index) ((?:"[^"]*"|[\w.])+)/i;
  const [, kind, name] = made.exec(statement) ?? [];
  return kind && `${kind.toLowerCase()} ${name?.replaceAll('"', '')}`;
}

function format(statement: string): string {
  const style = { keywordCase: 'lower', indent: 2, maxWidth: 120, alignColumns: false } as const;
  const [formatted = ''] = formatSqlStatements([statement], style);
  // PostgreSQL 15 has no privilege MAINTAIN, and owners have it anyway.
  return formatted.replace('\n  AS $', '\nas $').replace(/^(grant .*)\bmaintain, /, '$1');
}

function describe(plan: Plan): Omit<SchemaChanges, 'prove'> {
  const { actions } = plan;
  // An object that is dropped and created again, such as a policy, counts as changed.
  const made = new Set(actions.flatMap(({ produces }) => produces.map(encodeId)));
  const destroyed = new Set(actions.flatMap(({ destroys }) => destroys.map(encodeId)));
  const isAnew = ({ verb, produces, destroys }: Action) =>
    (verb === 'create' && produces.some((id) => destroyed.has(encodeId(id)))) ||
    (verb === 'drop' && destroys.some((id) => made.has(encodeId(id))));
  const count = (verb: Action['verb']) => actions.filter((action) => action.verb === verb && !isAnew(action)).length;
  const anew = actions.filter((action) => action.verb === 'create' && isAnew(action)).length;
  return {
    statements: actions.map(({ sql }) => sql),
    summary: `Adds ${count('create')}, changes ${count('alter') + anew}, drops ${count('drop')}.`,
    losses: actions.filter(({ dataLoss }) => dataLoss === 'destructive').map(({ sql }) => sql),
    files: renderPlanFiles(plan, { allowDrops: true }).files.map(({ contents }) => contents),
  };
}

export async function withPools<T>(urls: string[], use: (...pools: Pool[]) => Promise<T>): Promise<T> {
  const pools = urls.map((connectionString) => new Pool({ connectionString, max: 2 }));
  // Ignores errors of idle connections, which would be thrown when the server ends.
  for (const pool of pools) pool.on('error', () => {});
  try {
    return await use(...pools);
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}
