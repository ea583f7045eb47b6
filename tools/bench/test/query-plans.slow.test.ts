import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import postgres from 'postgres';
import { describe } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { openExplainer } from '../explain.ts';
import { loadRows, type Size } from '../load.ts';
import { statements } from '../statements.ts';
import { type Loaded, SIZE, testPlans, withStatistics } from './plans.ts';

// A plan depends on what the planner knows, so each query is tried with statistics, without them, and on plans cached from an
// empty database.

const COLLECTOR_ALONE: Size = { ...SIZE, favorites: 0 };

/** An account of the database before it is loaded. */
const SOMEBODY = 'd0000000-0000-4000-8000-000000000001';

/**
 * Right after an import: autovacuum has not come by yet.
 * @param isOld whether the connection has planned everything several times while the database was empty
 */
async function withoutStatistics(isOld: boolean): Promise<Loaded> {
  const database = await startDatabase();
  const { databaseUrl } = database;
  const admin = postgres(as(SUPERUSER, databaseUrl), { max: 1 });
  await admin`alter system set autovacuum = off`;
  await admin`select pg_reload_conf()`;
  await admin`insert into auth.users (id, email) values (${SOMEBODY}, 'somebody@example.com')`;
  await admin.end();

  const explainer = await openExplainer(databaseUrl);
  if (isOld) {
    const unknown = statements('2026-06-23T09:30:00.000Z', '2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42', SOMEBODY);
    for (const { caller, sql } of unknown) {
      for (let run = 0; run < 10; run++) await explainer.rows({ ...caller, user: SOMEBODY }, sql);
    }
  }
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.begin((transaction) => loadRows(transaction, COLLECTOR_ALONE));
  await sql.end();
  return { database, explainer };
}

describe.for<[string, () => Promise<Loaded>]>([
  ['with fresh statistics, on PostgreSQL 15, which hosted projects may have', () => withStatistics(SIZE, 15)],
  ['where one user has all favorites', () => withStatistics(COLLECTOR_ALONE)],
  ['right after an import, on a new connection', () => withoutStatistics(false)],
  ['right after an import, on a connection older than the import', () => withoutStatistics(true)],
])('%s', ([, load]) => testPlans(load));
