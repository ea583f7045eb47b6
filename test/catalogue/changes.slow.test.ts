import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';
import { checkCopies } from './copies.ts';

test('copies of the catalogue end up equal, 1,000 times, however writers and readers overlap', async () => {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await checkCopies(sql, databaseUrl, 1000);
    expect(await sql`select from private.catalogue_changes limit 1`).toHaveLength(1);
  } finally {
    await sql.end();
    await stop();
  }
});
