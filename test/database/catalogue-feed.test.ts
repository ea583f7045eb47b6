import { as } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

test('the change feed has one row, whatever a restore loads', async () => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  const sql = postgres(as(superuserName, databaseUrl), { max: 1 });
  await sql`set session_replication_role = replica`; // as the restore in docs/operate.md does
  for (const rows of [['restored'], ['first', 'second'], ['restored']]) {
    await sql`insert into private.catalogue_feed ${sql(rows.map((id) => ({ id })))}`;
    expect(
      await sql`select id, private.list_catalogue_changes(null) ->> 'has_more' as has_more
      from private.catalogue_feed`,
    ).toEqual([{ id: rows.at(-1), has_more: 'false' }]);
  }
  await sql`set session_replication_role = origin`;
  await sql`insert into private.catalogue_feed default values`;
  expect(await sql`select from private.catalogue_feed`).toHaveLength(1);
  await sql.end();
});
