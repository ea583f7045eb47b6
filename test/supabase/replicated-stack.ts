import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startApi } from '@sounds-service/local-supabase/api';
import { as } from '@sounds-service/local-supabase/database';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startPostgres, superuserName } from '@sounds-service/local-supabase/postgres';
import { removeFolder } from '@sounds-service/local-supabase/postgres-files';
import { makeStandby } from '@sounds-service/local-supabase/standby';
import postgres from 'postgres';
import { startApiProcess } from '../journeys/api-process.ts';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';

/** Starts a Supabase with one read replica: a hot standby of the primary with a separate data API. */
export async function startReplicatedStack() {
  const dataDir = await preparedFolder();
  const folders = { primary: join(dataDir, 'postgres'), standby: join(dataDir, 'standby') };
  const ports = { primary: await freePort(), standby: await freePort() };
  makeStandby(folders.primary, folders.standby, ports.primary);
  const start = (name: keyof typeof folders) =>
    startPostgres({ dataDir: folders[name], port: ports[name], durable: false });
  const primary = await start('primary');
  const standby = await start('standby');
  const options = { databaseUrl: primary.databaseUrl, storageDir: join(dataDir, 'storage'), port: 0 };
  // Start the API in a separate process, because the driver throws outside of calls when the primary stops.
  const api = await startApiProcess(options);
  const replicaApi = await startApi({ ...options, databaseUrl: standby.databaseUrl });
  const sql = postgres(primary.databaseUrl, { max: 1, onnotice() {} });
  const standbySql = postgres(as(superuserName, standby.databaseUrl), { max: 1, onnotice() {} });
  let running = primary;

  return {
    apiUrl: api.url,
    replicaUrl: replicaApi.url,
    ...localKeys,
    sql,
    /** Connection of the superuser, who may pause the standby. */
    standbySql,
    /** Stops the Postgres of the primary. Resolves to a function that starts it again. */
    async stopPrimary() {
      await running.stop();
      return async () => {
        running = await start('primary');
      };
    },
    async stop() {
      await Promise.all([sql.end(), standbySql.end(), api.kill(), replicaApi.stop()]);
      await standby.stop();
      await running.stop();
      for (const folder of Object.values(folders)) removeFolder(folder);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type ReplicatedStack = Awaited<ReturnType<typeof startReplicatedStack>>;
