import { migrate } from '@sounds-service/local-supabase/database';
import { checkDatabase } from '@sounds-service/migration/check';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

test('the migrations create the declared schema on PostgreSQL 15, despite default privileges', async () => {
  const { databaseUrl, stop } = await startDatabase(15, 'bare');
  onTestFinished(stop);
  const sql = postgres(databaseUrl, { max: 1 });
  for (const kind of ['tables', 'sequences', 'functions'])
    await sql.unsafe(
      `alter default privileges in schema public grant all on ${kind} to anon, authenticated, service_role`,
    );
  await sql.end();
  await migrate(databaseUrl);
  expect(await checkDatabase(databaseUrl)).toEqual([]);
});
