import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { type Account, findPrograms, ownFolder, type Programs, type Release, serverAccount } from './postgres-files.ts';
import { type SupervisedChild, spawnSupervised } from './supervised-child.ts';

/** A running PostgreSQL server on 127.0.0.1. */
export interface Postgres {
  /** Folder of the database. It is in the data folder, unless the account of the server cannot enter that. */
  readonly folder: string;
  /** Address for the role `postgres`, which is not a superuser, as on a hosted project. */
  readonly databaseUrl: string;
  /** Settles when the server has ended for any reason. */
  readonly exited: Promise<void>;
  /** Ends the server and keeps all committed data. Can be called twice. */
  stop(): Promise<void>;
}

interface PostgresOptions {
  /** Folder that contains only the database. Created on the first start. */
  dataDir: string;
  /** 0 picks a free port. */
  port: number;
  /** False is faster, but can lose data in a crash of the machine. Default: true. */
  durable?: boolean;
  release?: Release;
  /** Programs of another installation, such as one with extensions. Default: the embedded ones of the release. */
  programs?: Programs;
  /** Further settings of the server. */
  settings?: Record<string, string>;
}

/** Superuser that prepares the database, named as on Supabase. */
export const superuserName = 'supabase_admin';

const readyLine = /database system is ready to accept (read-only )?connections/;
const portTakenLine = /could not bind|could not create any TCP\/IP sockets/;
// Error while the processes of a killed server still use the shared memory.
const stillDyingLine = /pre-existing shared memory block/;

/**
 * Starts PostgreSQL on a data folder. The first start creates the cluster.
 * @throws an Error with the log of the server
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const account = serverAccount(options.dataDir);
  const programs = options.programs ?? (await findPrograms(account, options.release ?? 17));
  const folder = clusterFolder(options.dataDir);
  if (!existsSync(folder)) await createCluster(programs.initdb, folder, account);

  for (let attempt = 1; ; attempt++) {
    const port = options.port || (await freePort());
    const args = ['-D', folder, '-p', String(port), ...settings(options)];
    const server = spawnSupervised(programs.postgres, args, 'INT', { ...account, cwd: '/', stdout: 'ignore' });
    const problem = await untilReady(server);
    if (problem === undefined) {
      const databaseUrl = `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
      return { folder, databaseUrl, exited: server.exited, stop: server.stop };
    }
    const lostRace = options.port === 0 && portTakenLine.test(problem);
    if (attempt > 20 || !(lostRace || stillDyingLine.test(problem)))
      throw new Error(`Postgres did not start: ${problem}`);
    await sleep(100);
  }
}

/**
 * Ends a server that is still running on a data folder after its parent has ended, and removes its pid file. The
 * caller must hold the lock of the folder.
 */
export async function stopLeftover(dataDir: string): Promise<void> {
  const folder = clusterFolder(dataDir);
  const pidFile = join(folder, 'postmaster.pid');
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    const pid = serverOn(folder, pidFile);
    if (pid === undefined) break;
    process.kill(pid, signal);
    for (let waited = 0; waited < 10_000 && serverOn(folder, pidFile) === pid; waited += 50) await sleep(50);
  }
  // Remove the pid file, because another process may have its process id by now.
  rmSync(pidFile, { force: true });
}

function serverOn(folder: string, pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  return commandLine(pid).includes(`-D ${folder} `) ? pid : undefined;
}

function commandLine(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  if (existsSync(file)) return readFileSync(file, 'utf8').replaceAll('\0', ' ');
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** Returns the folder of the database in a data folder. */
export function clusterFolder(dataDir: string): string {
  return join(ownFolder(dataDir), 'cluster');
}

async function createCluster(initdb: string, folder: string, account: Account): Promise<void> {
  // Create the database under another name, so that an interrupted first start leaves no incomplete database.
  const unfinished = `${folder}.unfinished`;
  const create = (characterType: string) => {
    rmSync(unfinished, { recursive: true, force: true });
    const args = [
      `--pgdata=${unfinished}`,
      `--username=${superuserName}`,
      // Do not check the password, because it is public, as in `supabase start`.
      '--auth=trust',
      '--encoding=UTF8',
      // Sort as a hosted project does, independent of LANG.
      '--locale=C',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      `--lc-ctype=${characterType}`,
      '--no-sync',
    ];
    return promisify(execFile)(initdb, args, { ...account, cwd: '/' });
  };
  // Use C.UTF-8 if the system lacks the locale of a hosted project. Both know the letters of all scripts.
  await create('en_US.UTF-8').catch(() => create('C.UTF-8'));
  renameSync(unfinished, folder);
}

function settings({ durable = true, settings: further }: PostgresOptions): string[] {
  const values: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...further,
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Waits until the server accepts connections. Returns its log if it ends before that. */
function untilReady(server: SupervisedChild): Promise<string | undefined> {
  const { stderr } = server.process;
  if (!stderr) throw new Error('Postgres was started without a pipe for its log.');
  const log: string[] = [];
  return new Promise((resolve) => {
    createInterface({ input: stderr }).on('line', (line) => {
      if (log.push(line) > 50) log.shift();
      if (readyLine.test(line)) resolve(undefined);
    });
    server.process.once('close', () => resolve(log.join('\n')));
    server.process.once('error', (error) => resolve(error.message));
  });
}
