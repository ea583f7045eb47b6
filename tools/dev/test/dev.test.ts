import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { devEnvironment, occupy, run, startDev, untilGone } from '../../../test/support/processes.ts';
import { DEMO } from '../seed.ts';

describe.runIf(inject('stack').embedded)('npm run dev', () => {
  let folder: string;
  let env: Record<string, string>;
  let dev: Awaited<ReturnType<typeof startDev>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sounds-service-dev-'));
    // Settings of a deployment in `.env` must not reach the local one.
    const elsewhere = { SUPABASE_PUBLIC_URL: 'https://abcd.supabase.co', REQUIRE_HTTPS: 'true' };
    env = { ...(await devEnvironment(folder)), ...elsewhere, LOG_LEVEL: 'warn' };
    dev = await startDev(env);
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('prints its progress, the address of the player first, and serves an app anywhere', async () => {
    const { stdout } = dev.output;
    expect(stdout.indexOf('Applying migrations')).toBeGreaterThan(0);
    expect(stdout).not.toContain('is not what was applied');
    const player = `http://127.0.0.1:${env['PLAYER_PORT']}/`;
    expect(/http:\S+/.exec(stdout)?.[0], 'the address printed first').toBe(player);
    expect((await fetch(player)).headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${player}api/v1/config`)).status).toBe(200);
    const ofAnApp = { Origin: 'http://localhost:5173' };
    const { headers } = await fetch(`http://127.0.0.1:${env['PORT']}/api/v1/config`, { headers: ofAnApp });
    expect(headers.get('access-control-allow-origin')).toBe(ofAnApp.Origin);
  });

  test('prints commands that work when pasted or print the error', () => {
    const { stdout } = dev.output;
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
  });

  test('the README shows the answer of its request', async () => {
    const readme = await readFile('README.md', 'utf8');
    const [, request = '', answer = ''] = /```sh\n(TOKEN=.*?)```.*?```json\n(.*?)```/s.exec(readme) ?? [];
    const input = request.replaceAll('localhost:3000', `127.0.0.1:${env['PORT']}`);
    const printed = execFileSync('sh', { input, encoding: 'utf8', stdio: 'pipe' });
    expect(JSON.parse(printed)).toEqual(JSON.parse(answer));
  });

  test('serves Studio with its files, and leaves no process behind', async () => {
    const studio = await fetch(`http://127.0.0.1:${env['SUPABASE_PORT']}/`);
    const page = await studio.text();
    const assets = [...page.matchAll(/(?:src|href)="(\/static[^"]+)"/g)].map(([, path]) => path);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) expect((await fetch(new URL(path ?? '', studio.url))).status).toBe(200);

    dev.kill('SIGINT');
    expect(await dev.exited).toBe(0);
    await untilGone(folder);
    const gateway = fetch(`http://127.0.0.1:${env['PORT']}/readyz`);
    await expect(gateway).rejects.toThrow();
  });

  test('rejects a port that is no number, and one port for two servers', async () => {
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
