import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, startDev, untilGone } from '../../../test/support/processes.ts';
import { demoAccount } from '../seed.ts';

describe.runIf(inject('stack').embedded)('npm run dev', () => {
  let folder: string;
  let env: Record<string, string>;
  let dev: Awaited<ReturnType<typeof startDev>>;

  beforeAll(async () => {
    folder = await preparedFolder();
    // Settings of a deployment in `.env`, which must not reach the local stack.
    const elsewhere = { SUPABASE_PUBLIC_URL: 'https://abcd.supabase.co', REQUIRE_HTTPS: 'true' };
    env = { ...(await devEnvironment(folder)), ...elsewhere };
    dev = await startDev(env);
  });

  // A terminal has no variables of npm. Those of the npm that runs the tests would change a pasted npx.
  const terminal = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

  /** Pastes lines into a shell. @returns their output */
  const paste = (input: string, cwd?: string) =>
    execFileSync('sh', { input, cwd, env: terminal, encoding: 'utf8', stdio: 'pipe' });

  test('prints its progress, the address of the player first, and serves an app anywhere', async () => {
    const { stdout } = dev.output;
    expect(stdout).toContain('Seeding the catalogue');
    expect(stdout).not.toContain('is not what was applied');
    const player = `http://127.0.0.1:${env['PLAYER_PORT']}/`;
    expect(/http:\S+/.exec(stdout)?.[0], 'the address printed first').toBe(player);
    expect((await fetch(player)).headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${player}api/v1/config`)).status).toBe(200);
    const ofAnApp = { Origin: 'http://localhost:5173' };
    const { headers } = await fetch(`http://127.0.0.1:${env['PORT']}/api/v1/config`, { headers: ofAnApp });
    expect(headers.get('access-control-allow-origin')).toBe(ofAnApp.Origin);
  });

  // Allows for the start of npm (twice), the Supabase CLI and five other commands.
  const timeout = 60_000;
  test('prints commands that work when pasted or print the error, as does the README', {
    tags: ['curl'],
    timeout,
  }, async () => {
    const { stdout } = dev.output;
    const { publishableKey, secretKey } = localKeys;
    const [api, supabase] = [`:${env['PORT']}/api/v1\n`, `:${env['SUPABASE_PORT']}/`];
    for (const text of [api, supabase, publishableKey, secretKey, demoAccount.email]) expect(stdout).toContain(text);
    const [lines = [], here = []] = stdout
      .split(/In this folder:|An account of your own/)
      .map((part) => part.split('\n').filter((line) => /^(TOKEN=\$\(|DO_NOT_TRACK=1 )?(curl|npx) /.test(line)));
    const pasted = paste(lines.join('\n'), folder);
    expect(pasted.endsWith('}\n')).toBe(true);
    expect(JSON.parse(pasted)).toMatchObject({ data: expect.any(Array) });
    const audio = await readFile(join(folder, /-so (\S+)/.exec(lines[2] ?? '')?.[1] ?? ''));
    expect(audio.length).toBeGreaterThan(1000);
    const failing = `${lines[0]?.replace(demoAccount.password, 'another-password')}; echo "token: $TOKEN"`;
    const failed = spawnSync('sh', { input: failing, env: terminal, encoding: 'utf8' });
    expect(failed.stdout).toBe('token: \n');
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { message: expect.any(String) } });
    expect(here).toHaveLength(2);
    const [session = '', customers] = here.map((line) => paste(line));
    expect(JSON.parse(session)).toMatchObject({ data: { user: { email: 'ada@example.com' } } });
    expect(customers).toMatch(/ada@example\.com\W+google/);
    // The log shows requests and their callers in one line each.
    await dev.until('INFO <jwt ');

    const readme = await readFile('README.md', 'utf8');
    const [, request = '', answer = ''] = /```sh\n(TOKEN=.*?)```.*?```json\n(.*?)```/s.exec(readme) ?? [];
    const printed = paste(request.replaceAll('localhost:3000', `127.0.0.1:${env['PORT']}`));
    expect(JSON.parse(printed)).toEqual(JSON.parse(answer));
  });

  test('serves Studio with its files, and leaves no process behind', async () => {
    const studio = await fetch(`http://127.0.0.1:${env['SUPABASE_PORT']}/`);
    const assets = [...(await studio.text()).matchAll(/(?:src|href)="(\/static[^"]+)"/g)];
    expect(assets.length).toBeGreaterThan(1);
    for (const [, path = ''] of assets) expect((await fetch(new URL(path, studio.url))).status).toBe(200);
    dev.kill('SIGINT');
    expect(await dev.exited).toBe(0);
    await untilGone(folder);
    await expect(fetch(`http://127.0.0.1:${env['PORT']}/readyz`)).rejects.toThrow();
  });
});
