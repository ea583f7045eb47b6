import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { startPostgres } from 'local-supabase/postgres';
import { removeFolder } from 'local-supabase/postgres-files';
import { freePort } from '../support/ports.ts';
import { preparedFolder } from '../support/prepared.ts';
import { startApiProcess } from './api-process.ts';

/** An embedded Supabase whose parts can be taken away one at a time and given back on the same ports. */
export async function startFragileStack() {
  const dataDir = await preparedFolder();
  const folder = join(dataDir, 'postgres');
  let postgres = await startPostgres({ dataDir: folder, port: await freePort(), durable: false });
  const { databaseUrl } = postgres;
  const apiOptions = { databaseUrl, storageDir: join(dataDir, 'storage'), port: await freePort() };
  let api = await startApiProcess(apiOptions);

  async function signalPostgres(signal: NodeJS.Signals) {
    const [pid = ''] = (await readFile(join(postgres.folder, 'postmaster.pid'), 'utf8')).split('\n');
    // The server itself first, or it starts others meanwhile. Of those it has, one may be ending just now.
    process.kill(Number(pid), signal);
    spawnSync('pkill', [`-${signal}`, '-P', pid]);
  }

  return {
    apiUrl: api.url,
    databaseUrl,
    ...LOCAL_KEYS,
    /** Each takes its part away and resolves to what gives it back. */
    breakages: {
      'a stopped Postgres': async () => {
        await postgres.stop();
        return async () => {
          postgres = await startPostgres({
            dataDir: folder,
            port: Number(new URL(databaseUrl).port),
            durable: false,
          });
        };
      },
      'a frozen Postgres': async () => {
        await signalPostgres('SIGSTOP');
        return () => signalPostgres('SIGCONT');
      },
      'a killed Supabase API': async () => {
        await api.kill();
        return async () => {
          api = await startApiProcess(apiOptions);
        };
      },
      'a frozen Supabase API': () => {
        api.signal('SIGSTOP');
        return Promise.resolve(() => Promise.resolve(api.signal('SIGCONT')));
      },
    },
    stop: async () => {
      await api.kill();
      await postgres.stop();
      removeFolder(folder);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
