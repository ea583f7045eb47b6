import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startPostgres } from '@sounds-service/local-supabase/postgres';
import { removeFolder } from '@sounds-service/local-supabase/postgres-files';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';
import { startApiProcess } from './api-process.ts';

/** Starts an embedded Supabase whose Postgres can be stopped and started again on the same port. */
export async function startFragileStack() {
  const dataDir = await preparedFolder();
  const server = { dataDir: join(dataDir, 'postgres'), port: await freePort(), durable: false };
  let postgres = await startPostgres(server);
  const { databaseUrl } = postgres;
  const apiOptions = { databaseUrl, storageDir: join(dataDir, 'storage'), port: await freePort() };
  const api = await startApiProcess(apiOptions);

  return {
    apiUrl: api.url,
    databaseUrl,
    ...localKeys,
    stopPostgres: () => postgres.stop(),
    startPostgres: async () => {
      postgres = await startPostgres(server);
    },
    stop: async () => {
      await api.kill();
      await postgres.stop();
      removeFolder(server.dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
