import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startPostgres } from '@sounds-service/local-supabase/postgres';
import { removeFolder } from '@sounds-service/local-supabase/postgres-files';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';
import { childrenOf, serverPid, signalIfRunning } from '../support/processes.ts';
import { startApiProcess } from './api-process.ts';

/** Starts an embedded Supabase whose parts can be stopped and started again on the same ports. */
export async function startFragileStack() {
  const dataDir = await preparedFolder();
  const server = { dataDir: join(dataDir, 'postgres'), port: await freePort(), durable: false };
  let postgres = await startPostgres(server);
  const { databaseUrl } = postgres;
  const apiOptions = { databaseUrl, storageDir: join(dataDir, 'storage'), port: await freePort() };
  let api = await startApiProcess(apiOptions);

  function signalPostgres(signal: NodeJS.Signals) {
    const pid = serverPid(server.dataDir);
    // Signal the server first, otherwise it starts more processes.
    process.kill(pid, signal);
    for (const child of childrenOf(pid)) signalIfRunning(child.pid, signal);
  }

  return {
    apiUrl: api.url,
    databaseUrl,
    ...localKeys,
    /** Pairs of functions that stop a part and start it again. */
    breakages: {
      'a stopped Postgres': [
        () => postgres.stop(),
        async () => {
          postgres = await startPostgres(server);
        },
      ],
      'a frozen Postgres': [async () => signalPostgres('SIGSTOP'), async () => signalPostgres('SIGCONT')],
      'a killed Supabase API': [
        () => api.kill(),
        async () => {
          api = await startApiProcess(apiOptions);
        },
      ],
      'a frozen Supabase API': [async () => api.signal('SIGSTOP'), async () => api.signal('SIGCONT')],
    } as const,
    stop: async () => {
      await api.kill();
      await postgres.stop();
      removeFolder(server.dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
