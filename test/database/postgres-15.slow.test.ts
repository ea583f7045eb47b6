import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, prepareDatabase } from 'local-supabase/database';
import { startPostgres } from 'local-supabase/postgres';
import postgres from 'postgres';
import { checkDatabase } from 'sounds-migration/check';
import { expect, onTestFinished, test } from 'vitest';
import { expectDeclared } from './declared.ts';

test('the migrations make what the schema files declare, on PostgreSQL 15', async () => {
  await expectDeclared(15);
});

test('the migrations make the declared schema in an older project that grants everything', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-older-'));
  const server = await startPostgres({ dataDir: folder, port: 0, durable: false, release: 15 });
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });
  await prepareDatabase(server.databaseUrl);
  const sql = postgres(server.databaseUrl, { max: 1 });
  for (const kind of ['tables', 'sequences', 'functions'])
    await sql.unsafe(
      `alter default privileges in schema public grant all on ${kind} to anon, authenticated, service_role`,
    );
  await sql.end();
  await migrate(server.databaseUrl);
  expect(await checkDatabase(server.databaseUrl)).toEqual([]);
});
