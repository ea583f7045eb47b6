import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { as } from 'local-supabase/database';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { SUPERUSER, startPostgres } from 'local-supabase/postgres';
import { removeFolder } from 'local-supabase/postgres-files';
import { makeStandby } from 'local-supabase/standby';
import postgres from 'postgres';
import { startApiProcess } from '../journeys/api-process.ts';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';

/** A Supabase with one read replica: a hot standby that follows the primary, with a data API of its own. */
export async function startReplicatedStack() {
  const dataDir = await preparedFolder();
  const durable = false;
  const folders = { primary: join(dataDir, 'postgres'), standby: join(dataDir, 'standby') };
  const ports = { primary: await freePort(), standby: await freePort() };
  makeStandby(folders.primary, folders.standby, ports.primary);
  const start = (name: keyof typeof folders) =>
    startPostgres({ dataDir: folders[name], port: ports[name], durable });
  const servers = { primary: await start('primary'), standby: await start('standby') };

  const api = await startApiProcess({
    databaseUrl: servers.primary.databaseUrl,
    storageDir: join(dataDir, 'storage'),
    port: 0,
  });
  const replicaApi = await startApiProcess({
    databaseUrl: servers.standby.databaseUrl,
    storageDir: join(dataDir, 'none'),
    port: 0,
  });
  const sql = postgres(servers.primary.databaseUrl, { max: 1, onnotice() {} });
  const standbySql = postgres(as(SUPERUSER, servers.standby.databaseUrl), { max: 1, onnotice() {} });

  return {
    apiUrl: api.url,
    replicaUrl: replicaApi.url,
    ...LOCAL_KEYS,
    sql,
    /** Connection of the superuser, who may pause the standby. */
    standbySql,
    /** Ends the Postgres of one; resolves to what gives it back. */
    async stopPostgres(name: keyof typeof servers) {
      await servers[name].stop();
      return async () => {
        servers[name] = await start(name);
      };
    },
    async stop() {
      await Promise.all([sql.end(), standbySql.end(), api.kill(), replicaApi.kill()]);
      await servers.standby.stop();
      await servers.primary.stop();
      for (const folder of Object.values(folders)) removeFolder(folder);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type ReplicatedStack = Awaited<ReturnType<typeof startReplicatedStack>>;
