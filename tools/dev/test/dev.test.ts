import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import {
  childrenOf,
  devEnvironment,
  occupy,
  run,
  serverPid,
  startDev,
  untilGone,
} from '../../../test/support/processes.ts';
import { DEMO } from '../seed.ts';

describe.runIf(inject('stack').embedded)('npm run dev', () => {
  let folder: string;
  let env: Record<string, string>;

  function query(text: string) {
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env['SUPABASE_DB_PORT']}/postgres`);
    return sql.unsafe(text).finally(() => sql.end());
  }

  const readyz = async () =>
    (await fetch(`http://127.0.0.1:${env['PORT']}/readyz`).catch(() => undefined))?.status;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sounds-service-dev-'));
    // What `.env` may say of a deployment must not reach the local one.
    const elsewhere = { SUPABASE_PUBLIC_URL: 'https://abcd.supabase.co', REQUIRE_HTTPS: 'true' };
    env = { ...(await devEnvironment(folder)), ...elsewhere, LOG_LEVEL: 'warn' };
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('tells what it does, then all that is needed, in lines that work when pasted or print the error', async () => {
    const dev = await startDev(env);
    const { stdout } = dev.output;
    expect(stdout.indexOf('Applying migrations')).toBeGreaterThan(0);
    expect(stdout).not.toContain('is not what was applied');
    const player = `http://127.0.0.1:${env['PLAYER_PORT']}/`;
    expect(/http:\S+/.exec(stdout)?.[0], 'the address printed first').toBe(player);
    expect((await fetch(player)).headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${player}api/v1/config`)).status).toBe(200);
    for (const text of [
      `http://127.0.0.1:${env['PORT']}/api/v1`,
      `http://127.0.0.1:${env['SUPABASE_PORT']}`,
      'sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH',
      'sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz',
      'demo@example.com',
    ]) {
      expect(stdout).toContain(text);
    }
    const [lines = [], here = []] = stdout
      .split(/In this folder:|An account of your own/)
      .map((part) =>
        part.split('\n').filter((line) => /^(TOKEN=\$\(|DO_NOT_TRACK=1 )?(curl|npx) /.test(line)),
      );
    const pasted = execFileSync('sh', { cwd: folder, input: lines.join('\n'), encoding: 'utf8' });
    expect(pasted.endsWith('}\n')).toBe(true);
    expect(JSON.parse(pasted)).toMatchObject({ data: expect.any(Array) });
    const audio = /-so (\S+)/.exec(lines[2] ?? '')?.[1] ?? '';
    expect(execFileSync('wc', ['-c', audio], { cwd: folder, encoding: 'utf8' })).toMatch(/\d{4,}/);
    const failing = `${lines[0]?.replace(DEMO.password, 'another-password')}; echo "token: $TOKEN"`;
    const failed = spawnSync('sh', { input: failing, encoding: 'utf8' });
    expect(failed.stdout).toBe('token: \n');
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { message: expect.any(String) } });
    expect(here).toHaveLength(2);
    const [session, customers] = here.map((input) =>
      execFileSync('sh', { input, encoding: 'utf8', stdio: 'pipe' }),
    );
    expect(JSON.parse(session ?? '')).toMatchObject({ data: { user: { email: 'ada@example.com' } } });
    expect(customers).toMatch(/ada@example\.com\W+google/);

    const studio = await fetch(`http://127.0.0.1:${env['SUPABASE_PORT']}/`);
    const page = await studio.text();
    const assets = [...page.matchAll(/(?:src|href)="(\/static[^"]+)"/g)].map(([, path]) => path);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) expect((await fetch(new URL(path ?? '', studio.url))).status).toBe(200);

    dev.kill('SIGINT');
    expect(await dev.exited).toBe(0);
    await untilGone(folder);
    expect(await readyz()).toBeUndefined();
  });

  test('--confirm-email asks new accounts, but not the demo account, for the code that it prints', async () => {
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

  test('keeps its data and outlives whatever ends it', async () => {
    const first = await startDev(env);
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

  test('says in one sentence what is in use, and names all ports that are taken at once', async () => {
    const dev = await startDev(env);
    const other = { ...env, ...(await devEnvironment(folder)) };
    const inUse = new RegExp(
      `^The data folder \\S+ is in use by another npm run dev, process ${dev.pid}: stop that one, or [^\n]+\\.\n$`,
    );
    const cases: [Record<string, string>, string[], RegExp][] = [
      [env, [], inUse],
      [other, ['--fresh'], inUse],
      ...[
        ['PORT'],
        ['PLAYER_PORT'],
        ['SUPABASE_DB_PORT'],
        ['PORT', 'PLAYER_PORT', 'SUPABASE_PORT', 'SUPABASE_DB_PORT'],
      ].map((names): [Record<string, string>, string[], RegExp] => [
        {
          ...other,
          DEV_DATA_DIR: `${folder}/other`,
          ...Object.fromEntries(names.map((name) => [name, env[name] as string])),
        },
        [],
        new RegExp(
          `^${names.map((name) => `Port ${env[name]} is in use by another program; set ${name} to another one\\.\\n`).join('')}$`,
        ),
      ]),
    ];
    for (const [given, args, message] of cases) {
      const second = run(['tools/dev/main.ts', ...args], given);
      expect(await second.exited).toBe(1);
      expect(second.output).toEqual({ stdout: '', stderr: expect.stringMatching(message) });
    }
    expect(await query('select 7 as n')).toEqual([{ n: 7 }]);
    dev.kill('SIGINT');
    await dev.exited;
  });

  test('ends when the gateway cannot start, with its reason', async () => {
    const dev = run(['tools/dev/main.ts'], { ...env, RATE_LIMIT_PER_MINUTE: 'many' });
    expect(await dev.exited).toBe(1);
    expect(dev.output.stderr).toContain('RATE_LIMIT_PER_MINUTE must be a whole number');
    await untilGone(folder);
  });

  test('--fresh starts anew, and Ctrl-C ends it while it prepares', async () => {
    const dev = run(['tools/dev/main.ts', '--fresh'], env);
    await dev.until('Seeding the catalogue');
    const [row] = await query(
      `select to_regclass('public.kept') as kept, count(*)::int as users from auth.users`,
    );
    expect(row).toEqual({ kept: null, users: 0 });
    // As it comes from a terminal: npm passes on what the whole group has got already.
    for (const _ of [1, 2]) dev.kill('SIGINT');
    expect([await dev.exited, dev.output.stderr]).toEqual([0, '']);
    await untilGone(folder);
  });

  test('rejects what it does not know', async () => {
    const dev = run(['tools/dev/main.ts', '--frehs'], env);
    expect(await dev.exited).toBe(1);
    const { port, server } = await occupy();
    const wrong = run(['tools/dev/main.ts'], { ...env, PORT: `${port}x` });
    expect(await wrong.exited).toBe(1);
    expect(wrong.output.stderr).toBe('PORT must be a port number from 1 to 65535.\n');
    server.close();
    const same = run(['tools/dev/main.ts'], { ...env, SUPABASE_DB_PORT: env['PORT'] as string });
    expect(await same.exited).toBe(1);
    expect(same.output.stderr).toMatch(/must be four different ports\.\n$/);
  });
});
