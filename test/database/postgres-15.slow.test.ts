import { migrate } from '@sounds-service/local-supabase/database';
import { checkDatabase } from '@sounds-service/migration/check';
import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { testPgtap } from './pgtap-suite.ts';

// Hosted projects have PostgreSQL 17 or 15.

const { databaseUrl, stop } = await startDatabase(15, 'bare');
afterAll(stop);

const sql = postgres(databaseUrl, { max: 1 });
for (const kind of ['tables', 'sequences', 'functions'])
  await sql.unsafe(
    `alter default privileges in schema public grant all on ${kind} to anon, authenticated, service_role`,
  );
await sql.end();
await migrate(databaseUrl);
const differences = await checkDatabase(databaseUrl); // before pgTAP adds its functions

test('the migrations create the declared schema on PostgreSQL 15, despite default privileges', () => {
  expect(differences).toEqual([]);
});

testPgtap('PostgreSQL 15 in use', databaseUrl, 'supabase/seed.sql', 'tools/migration/usage.sql');
