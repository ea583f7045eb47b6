import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startApi } from '../../dev/api.ts';
import { migrate, prepareDatabase } from '../../dev/database.ts';
import { LOCAL_KEYS } from '../../dev/keys.ts';
import { startPostgres } from '../../dev/postgres.ts';
import type { Release } from '../../dev/postgres-files.ts';
import { apiAt } from './api.ts';
import { startGateway } from './gateway.ts';

/** A project of its own with the migrations and nothing else, and a gateway in front of it. */
export async function startEmptyProject(release: Release = 17) {
  const dataDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
  const server = await startPostgres({
    dataDir: join(dataDir, 'postgres'),
    port: 0,
    durable: false,
    release,
  });
  const { databaseUrl } = server;
  await prepareDatabase(databaseUrl);
  await migrate(databaseUrl);
  const { url, stop } = await startApi({ databaseUrl, storageDir: join(dataDir, 'storage'), port: 0 });
  const { publishableKey, secretKey } = LOCAL_KEYS;
  const keys = { SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey };
  const gateway = await startGateway({ SUPABASE_URL: url, ...keys, SUPABASE_JWT_SECRET: '' });
  const sql = postgres(databaseUrl, { max: 2, onnotice() {} });
  return {
    apiUrl: url,
    databaseUrl,
    ...LOCAL_KEYS,
    api: apiAt(gateway.url),
    sql,
    stop: async () => {
      await sql.end();
      await gateway.close();
      await stop();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type EmptyProject = Awaited<ReturnType<typeof startEmptyProject>>;
