import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import {
  childrenOf,
  devEnvironment,
  processesNaming,
  run,
  startDev,
  untilGone,
} from '../../../test/support/processes.ts';

const MAIN = 'tools/dev/main.ts';

/** True if we may mount in a mount namespace of our own. */
const canMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

const PRIVILEGED_PORTS = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const port80NeedsRoot = existsSync(PRIVILEGED_PORTS) && Number(readFileSync(PRIVILEGED_PORTS, 'utf8')) > 80;
/** Runs a program that may not listen on privileged ports, also for root. */
const asPlainUser =
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set=-net_bind_service', process.execPath]
    : [process.execPath];

describe.runIf(inject('stack').embedded)('npm run dev, where something is wrong,', () => {
  let folder: string;
  let env: Awaited<ReturnType<typeof devEnvironment>>;

  beforeAll(async () => {
    folder = await preparedFolder();
    env = await devEnvironment(folder);
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** Starts it with the data folder on a disk of its own. */
  async function onDisk(megabytes: number) {
    const folder = await mkdtemp(join(tmpdir(), 'sounds-service-disk-'));
    await chmod(folder, 0o711);
    const mount = `mount -t tmpfs -o size=${megabytes}m,mode=755 tmpfs "$DEV_DATA_DIR" && exec "$@"`;
    const args = ['--mount', 'sh', '-c', mount, 'sh', process.execPath, MAIN];
    const dev = run(args, { ...env, DEV_DATA_DIR: folder }, 'unshare');
    onTestFinished(() => void dev.kill('SIGKILL'));
    return { folder, dev };
  }

  const full = (folder: string, left: number) =>
    `The disk of ${folder} has ${left} MB left, and npm run dev needs 100 MB: free some space, or set DEV_DATA_DIR to a folder on another disk.\n`;

  test('says in one sentence that the disk is full, or fills up while it starts', async ({ skip }) => {
    skip(!canMount, 'Run as root on Linux to try a full disk.');
    const { folder, dev } = await onDisk(60);
    expect(await dev.exited).toBe(1);
    expect(dev.output).toEqual({ stdout: '', stderr: full(folder, 60) });

    const filling = await onDisk(120);
    await filling.dev.until('Seeding the catalogue');
    const seen = `/proc/${filling.dev.pid}/root${filling.folder}/filler`;
    expect(spawnSync('dd', ['if=/dev/zero', `of=${seen}`, 'bs=64k']).stderr.toString()).toContain(
      'No space left',
    );
    expect(await filling.dev.exited).toBe(1);
    expect(filling.dev.output.stderr.endsWith(full(filling.folder, 0)), filling.dev.output.stderr).toBe(true);
    expect(filling.dev.output.stderr).not.toMatch(/paused|undefined/);
  });

  test('says that a port needs root, which is not in use', async ({ skip }) => {
    skip(!port80NeedsRoot, 'Port 80 does not need root here.');
    const [program = '', ...args] = [...asPlainUser, MAIN];
    const { exited, output } = run(args, { ...env, PORT: '80' }, program);
    expect([await exited, output.stderr]).toEqual([1, 'Port 80 needs root; set PORT to 1024 or above.\n']);
  });

  test('ends with an npm that was hung up on', async () => {
    const npm = run(['run', 'dev'], env, 'npm');
    await npm.until('Ctrl-C stops everything.');
    const [dev] = childrenOf(npm.pid);
    onTestFinished(() => {
      for (const { pid } of processesNaming(MAIN)) if (pid === dev?.pid) process.kill(pid, 'SIGKILL');
    });
    npm.kill('SIGHUP');
    await npm.exited;
    await untilGone(folder);
  });

  test('continues or ends cleanly when its database connections are terminated', async () => {
    const dev = await startDev({ ...env, ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000', LOG_LEVEL: 'silent' });
    onTestFinished(() => void dev.kill('SIGKILL'));
    let ended = false;
    void dev.exited.then(() => {
      ended = true;
    });
    let stopped = false;
    const clients = Array.from({ length: 8 }, async (_, client) => {
      const path = client % 2 ? '/categories' : '/auth/signin';
      const body = JSON.stringify({ email: `${client}@example.com`, password: 'wrong-password' });
      const init =
        client % 2 ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
      while (!stopped && !ended)
        await fetch(`http://127.0.0.1:${env.PORT}/api/v1${path}`, init)
          .then((answer) => answer.text())
          .catch(() => {});
    });
    const sql = postgres(`postgresql://supabase_admin@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`, {
      max: 1,
    });
    for (let round = 0; round < 60 && !ended; round++) {
      const terminated = sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      // With its server the query may go unanswered.
      await Promise.race([terminated.catch(() => {}), dev.exited]);
    }
    await sql.end({ timeout: 1 });
    stopped = true;
    await Promise.all(clients);
    // Whole: it serves, and can be ended.
    if (!ended) {
      const readyz = async () =>
        (await fetch(`http://127.0.0.1:${env.PORT}/readyz`).catch(() => undefined))?.status;
      await Promise.race([dev.exited, expect.poll(readyz).toBe(200)]);
      dev.kill('SIGINT');
    }
    await dev.exited;
    await untilGone(folder);
  });
});
