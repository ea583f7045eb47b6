import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@sounds-service/local-supabase/postgres';
import { startStack } from '@sounds-service/local-supabase/stack';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, run, untilGone } from '../../../test/support/processes.ts';
import { hostAddress } from '../host-address.ts';
import { readSettings } from '../settings.ts';

const mainFile = 'tools/dev/main.ts';

/** True if the tests can mount a disk in their own mount namespace. */
const canMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

const limit = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const port80NeedsRoot = existsSync(limit) && Number(readFileSync(limit, 'utf8')) > 80;

describe.runIf(inject('stack').embedded)('npm run dev, where something is wrong,', () => {
  let folder: string;
  let env: Awaited<ReturnType<typeof devEnvironment>>;

  beforeAll(async () => {
    folder = await preparedFolder();
    env = await devEnvironment(folder);
  });

  /** Runs npm run dev until it fails. @returns its stderr */
  async function failureOf(given: Record<string, string>, args = [mainFile], program = process.execPath) {
    const { exited, output } = run(args, given, program);
    expect(await exited).toBe(1);
    return output.stderr;
  }

  const isRoot = process.getuid?.() === 0;
  test('rejects wrong settings in one sentence', { tags: isRoot ? ['setpriv'] : [] }, async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [given, args, expected] of [
      [{ PORT: '80x' }, [], /^PORT must be a port number from 1 to 65535\.$/],
      [{ PLAYER_PORT: '65536' }, [], /^PLAYER_PORT must be a port number from 1 to 65535\.$/],
      [{ SUPABASE_DB_PORT: env.PORT }, [], /^PORT, .* must be four different ports\.$/],
      [{}, ['--host', '192.0.2.1'], /^.+ is not an address of this machine\. Set --host .+$/],
    ] as const) {
      for (const [name, value] of Object.entries({ ...env, ...given })) vi.stubEnv(name, value);
      await expect(readSettings([...args])).rejects.toThrow(expected);
    }
    for (const address of ['0.0.0.0', '127.0.0.1', 'localhost', 'fe80::1'])
      await expect(hostAddress(address)).rejects.toThrow(/is not an address of this machine/);
    const limited = { ...env, RATE_LIMIT_PER_MINUTE: 'many' };
    expect(await failureOf(limited)).toMatch(/RATE_LIMIT_PER_MINUTE must be a whole number/);
    await untilGone(folder);
    if (!port80NeedsRoot) return;
    const asPlainUser = isRoot ? ['setpriv', '--bounding-set=-net_bind_service'] : [];
    const [program = '', ...args] = [...asPlainUser, process.execPath, mainFile];
    expect(await failureOf({ ...env, PORT: '80' }, args, program)).toBe(
      'Port 80 needs root; set PORT to 1024 or above.\n',
    );
  });

  /** Starts npm run dev with the data folder on a separate disk. */
  async function onDisk(megabytes: number) {
    const folder = await mkdtemp(join(tmpdir(), 'sounds-service-disk-'));
    await chmod(folder, 0o711);
    const mount = `mount -t tmpfs -o size=${megabytes}m,mode=755 tmpfs "$DEV_DATA_DIR" && exec "$@"`;
    const args = ['--mount', 'sh', '-c', mount, 'sh', process.execPath, mainFile];
    return { folder, dev: run(args, { ...env, DEV_DATA_DIR: folder }, 'unshare') };
  }

  test('reports a disk that is full or fills up during the start in one sentence', async ({ skip }) => {
    skip(!canMount, 'Run as root on Linux to try a full disk.');
    const full = (folder: string, left: number) =>
      `The disk of ${folder} has ${left} MB left, and npm run dev needs 100 MB: free some space, or set DEV_DATA_DIR to a folder on another disk.\n`;
    const { folder, dev } = await onDisk(60);
    expect(await dev.exited).toBe(1);
    expect(dev.output).toEqual({ stdout: '', stderr: full(folder, 60) });

    const filling = await onDisk(120);
    await filling.dev.until('Seeding the catalogue');
    const seen = `/proc/${filling.dev.pid}/root${filling.folder}/filler`;
    const { stderr: filled } = spawnSync('dd', ['if=/dev/zero', `of=${seen}`, 'bs=64k'], { encoding: 'utf8' });
    expect(filled).toContain('No space left');
    expect(await filling.dev.exited).toBe(1);
    const { stderr } = filling.dev.output;
    expect(stderr.endsWith(full(filling.folder, 0)), stderr).toBe(true);
    expect(stderr).not.toMatch(/paused|undefined/);
  });

  const history = 'supabase_migrations.schema_migrations';
  const baseline = 'supabase/migrations/\\d+_baseline\\.sql';

  // Each statement continues with the history that the previous one leaves.
  test.for([
    [
      'an earlier baseline',
      `update ${history} set statements = array_append(statements, 'select 1')`,
      `^The database was made by an earlier ${baseline}\\. .+ npm run dev -- --fresh\\. To keep the catalogue, run npm run export .+$`,
    ],
    [
      'a migration without a file',
      `update ${history} set statements = trim_array(statements, 1);
      insert into ${history} (version, name) values ('20990101000000', 'branch')`,
      '^The database has .+: 20990101000000_branch\\.sql\\. .+: npm run dev -- --fresh$',
    ],
    [
      'a migration that is too old',
      `delete from ${history} where name = 'baseline'`,
      `^${baseline} is older than what the database has\\. To keep the data, give its name a later time than 20990101000000; else start over .+: npm run dev -- --fresh$`,
    ],
    [
      'a migration that fails',
      `delete from ${history}`,
      `ERROR: .* already exists[^]*\nCorrect ${baseline} (?!.*--fresh).+\\.$`,
    ],
  ] as const)('the stack names %s, and how to go on', async ([, statement, expected]) => {
    const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, durable: false });
    const sql = postgres(server.databaseUrl);
    await sql.unsafe(statement).finally(() => sql.end());
    await server.stop();
    const starting = startStack({ dataDir: folder, apiPort: 0, databasePort: 0, durable: false });
    await expect(starting).rejects.toThrow(new RegExp(expected));
  });
});
