import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { RestConnection } from '../src/api/rest-connection.ts';
import { as } from '../src/database.ts';
import { superuserName } from '../src/postgres.ts';

test('the data API finds a function that was created while it read the schema', async ({ onTestFinished }) => {
  const { databaseUrl, stop } = await startDatabase(17, 'bare');
  const connection = new RestConnection(databaseUrl);
  const sql = postgres(as(superuserName, databaseUrl), { onnotice() {} });
  onTestFinished(async () => {
    await Promise.all([connection.close(), sql.end()]);
    await stop();
  });
  await connection.watchSchema();
  const namesOfFunctions = async () => {
    const { functions = [] } = await connection.introspect({ useCache: true });
    return functions.map(({ name }) => name);
  };

  let reading: Promise<string[]> | undefined;
  // Holds up the reading of partitions, which follows that of functions.
  await sql.begin(async (tx) => {
    await tx`lock table pg_catalog.pg_inherits in access exclusive mode`;
    reading = namesOfFunctions();
    const waiting = () => sql`select from pg_locks where not granted and relation = 'pg_catalog.pg_inherits'::regclass`;
    await expect.poll(async () => (await waiting()).length).toBe(1);
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    await connection.driver.listen('pgrst', () => tell());
    await sql`create function public.newest() returns void language sql as ''`;
    await told;
  });
  await reading;
  expect(await namesOfFunctions()).toContain('newest');
});
