import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import {
  childrenOf,
  devEnvironment,
  run,
  serverPid,
  startDev,
  untilGone,
} from '../../../test/support/processes.ts';
import { DEMO } from '../seed.ts';

describe.runIf(inject('stack').embedded)('npm run dev', () => {
  let folder: string;
  let env: Record<string, string>;
  let first: ReturnType<typeof run>;

  function query(text: string) {
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env['SUPABASE_DB_PORT']}/postgres`);
    return sql.unsafe(text).finally(() => sql.end());
  }

  const readyz = async () =>
    (await fetch(`http://127.0.0.1:${env['PORT']}/readyz`).catch(() => undefined))?.status;

  beforeAll(async () => {
    folder = await preparedFolder();
    // Settings of a deployment in `.env` must not reach the local one.
    const elsewhere = { SUPABASE_PUBLIC_URL: 'https://abcd.supabase.co', REQUIRE_HTTPS: 'true' };
    env = { ...(await devEnvironment(folder)), ...elsewhere, LOG_LEVEL: 'warn' };
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('requires confirmation of new accounts with --confirm-email, and prints the code', async () => {
    const own = await devEnvironment(await preparedFolder());
    const dev = await startDev({ ...env, ...own }, '--confirm-email');
    const post = async (path: string, body: object) => {
      const response = await fetch(`http://127.0.0.1:${own.PORT}/api/v1${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(dev.output.stdout).not.toContain('Mail to');
    const account = { email: 'eve@example.com', password: 'first-password' };
    const { body } = await post('/auth/signup', account);
    expect(body).toMatchObject({ data: { needs_email_confirmation: true } });
    await dev.until('Mail to eve@example.com: ');
    const lookUp = dev.output.stdout.split('\n').find((line) => line.startsWith('CODE=')) ?? '';
    const code = execFileSync('sh', {
      input: `${lookUp}; echo $CODE`,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    expect(dev.output.stdout).toContain(`Mail to eve@example.com: Confirm Your Signup, code ${code}\n`);
    expect((await post('/auth/signin', account)).status).toBe(401);
    expect((await post('/auth/signin', DEMO)).status).toBe(200);
    dev.kill('SIGINT');
    await dev.exited;
    await rm(own.DEV_DATA_DIR, { recursive: true });
  });

  test('names the data folder or all ports that are in use in one sentence', async () => {
    first = await startDev(env);
    const other = { ...env, ...(await devEnvironment(folder)) };
    const inUse = new RegExp(
      `^The data folder \\S+ is in use by another npm run dev, process ${first.pid}: stop that one, or [^\n]+\\.\n$`,
    );
    const cases: [Record<string, string>, string[], RegExp][] = [
      [env, [], inUse],
      [other, ['--fresh'], inUse],
      ...[['PLAYER_PORT'], ['PORT', 'PLAYER_PORT', 'SUPABASE_PORT', 'SUPABASE_DB_PORT']].map(
        (names): [Record<string, string>, string[], RegExp] => [
          {
            ...other,
            DEV_DATA_DIR: `${folder}/other`,
            ...Object.fromEntries(names.map((name) => [name, env[name] as string])),
          },
          [],
          new RegExp(
            `^${names.map((name) => `Port ${env[name]} is in use by another program; set ${name} to another one\\.\\n`).join('')}$`,
          ),
        ],
      ),
    ];
    for (const [given, args, message] of cases) {
      const second = run(['tools/dev/main.ts', ...args], given);
      expect(await second.exited).toBe(1);
      expect(second.output).toEqual({ stdout: '', stderr: expect.stringMatching(message) });
    }
    expect(await query('select 7 as n')).toEqual([{ n: 7 }]);
  });

  test('keeps its data after each way of ending', async () => {
    await query('drop table if exists public.kept; create table public.kept as select 7 as n');
    first.kill('SIGINT');
    expect(await first.exited).toBe(0);
    const dev = await startDev(env);
    expect(await query('select n from public.kept')).toEqual([{ n: 7 }]);

    await query('insert into public.kept values (8)');
    process.kill(serverPid(join(folder, 'postgres')), 'SIGKILL');
    expect(await dev.exited).toBe(1);
    expect(dev.output.stderr).toContain('PostgreSQL stopped unexpectedly');
    await untilGone(folder);

    const again = await startDev(env);
    expect(await query('select n from public.kept order by n')).toEqual([{ n: 7 }, { n: 8 }]);
    await query('insert into public.kept values (9)');
    // The keepers of its children along with it: then nobody is left who would end them.
    const keepers = childrenOf(again.pid);
    again.kill('SIGKILL');
    for (const { pid } of keepers) process.kill(pid, 'SIGKILL');
    await again.exited;

    // By npm, which alone is told to end, as a supervisor would.
    const last = run(['run', 'dev'], env, 'npm');
    await last.until('Ctrl-C stops everything.');
    expect(await query('select n from public.kept order by n')).toHaveLength(3);
    last.kill('SIGTERM');
    expect(await last.exited).toBe(0);
    await untilGone(folder);
    expect(await readyz()).toBeUndefined();
  });

  test('ends with the reason if the gateway cannot start', async () => {
    const dev = run(['tools/dev/main.ts'], { ...env, RATE_LIMIT_PER_MINUTE: 'many' });
    expect(await dev.exited).toBe(1);
    expect(dev.output.stderr).toContain('RATE_LIMIT_PER_MINUTE must be a whole number');
    await untilGone(folder);
  });

  test('deletes the data with --fresh, and ends on Ctrl-C during the preparation', async () => {
    const dev = run(['tools/dev/main.ts', '--fresh'], env);
    await dev.until('Seeding the catalogue');
    const [row] = await query(
      `select to_regclass('public.kept') as kept, count(*)::int as users from auth.users`,
    );
    expect(row).toEqual({ kept: null, users: 0 });
    // Sends it twice, because at a terminal npm passes on a signal that the whole group gets.
    for (const _ of [1, 2]) dev.kill('SIGINT');
    expect([await dev.exited, dev.output.stderr]).toEqual([0, '']);
    await untilGone(folder);
  });
});
