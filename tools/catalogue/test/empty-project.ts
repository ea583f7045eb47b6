import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import type { Release } from 'local-supabase/postgres-files';
import postgres from 'postgres';
import { apiAt } from '../../../test/support/api.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { startDatabase } from '../../../test/support/prepared.ts';

/** Starts a project with the migrations and nothing else, and a gateway in front of it. */
export async function startEmptyProject(release: Release = 17) {
  const database = await startDatabase(release);
  const { databaseUrl } = database;
  const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
  const { url, stop } = await startApi({ databaseUrl, storageDir, port: 0 });
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
      await database.stop();
      await rm(storageDir, { recursive: true });
    },
  };
}

export type EmptyProject = Awaited<ReturnType<typeof startEmptyProject>>;
