import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startPostgres } from '@sounds-service/local-supabase/postgres';
import { removeFolder } from '@sounds-service/local-supabase/postgres-files';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';
import { startApiProcess } from './api-process.ts';

/** Starts an embedded Supabase whose parts can be stopped and started again on the same ports. */
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
    /** Pairs of functions that stop a part and start it again. */
    breakages: {
      stopPostgres: [
        () => postgres.stop(),
        async () => {
          postgres = await startPostgres(server);
        },
      ],
      freezeApi: [async () => api.signal('SIGSTOP'), async () => api.signal('SIGCONT')],
    } as const,
    stop: async () => {
      await api.kill();
      await postgres.stop();
      removeFolder(server.dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
