import { supabase } from '@sounds-service/local-supabase/database';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

interface Finding {
  name: string;
  detail: string;
}

/** Returns the findings of the advisors, except for unused indexes, because all are unused in a new database. */
async function advise(databaseUrl: string): Promise<Finding[]> {
  const options = ['--type', 'all', '--level', 'info', '--fail-on', 'none'];
  const printed = await supabase(['db', 'advisors', `--remote=${databaseUrl}`, ...options]);
  const findings: Finding[] = JSON.parse(printed || '[]'); // the output is empty without findings
  return findings.filter(({ name }) => name !== 'unused_index');
}

test('the Supabase advisors report problems that a test adds to the schemas, and no others', async () => {
  // Use a separate database, because other tests create tables in the common one.
  const database = await startDatabase();
  onTestFinished(database.stop);
  const sql = postgres(database.databaseUrl, { max: 1 });
  await sql`create table public.open_table (id integer primary key, sound_id uuid references public.sounds (id))`;
  await sql`grant select on public.open_table to anon`;
  await sql`create table private.unguarded (id integer)`;
  await sql`alter table private.unguarded enable row level security`;
  await sql`create function admin.careless() returns integer language sql as 'select 1'`;
  await sql`create policy "Per row" on public.sounds for insert to authenticated with check (auth.uid() = id)`;
  await sql`create index favorites_again on public.favorites (sound_id)`;
  await sql.end();

  const found = (await advise(database.databaseUrl)).map(({ name, detail }) => `${name}: ${detail}`);
  const expected = [
    'auth_rls_initplan: .*sounds',
    'duplicate_index: .*favorites_again',
    'function_search_path_mutable: .*careless',
    'no_primary_key: .*unguarded',
    'rls_disabled_in_public: .*open_table',
    'rls_enabled_no_policy: .*unguarded',
    'unindexed_foreign_keys: .*open_table',
  ];
  expect(found.toSorted()).toEqual(expected.map((text) => expect.stringMatching(`^${text}`)));
});
