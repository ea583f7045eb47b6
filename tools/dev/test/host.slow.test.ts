import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { LOCAL_KEYS } from 'local-supabase/keys';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { apiAt, bearer } from '../../../test/support/api.ts';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, run, startDev } from '../../../test/support/processes.ts';
import { DEMO } from '../seed.ts';

// Linux takes every address of 127.0.0.0/8 for its own: one that is not 127.0.0.1 stands for that of the network.
const canListen = process.platform === 'linux';

/** A request whose path is sent as it is. */
function statusOf(port: string, method: string, path: string): Promise<number | undefined> {
  const { secretKey } = LOCAL_KEYS;
  const headers = {
    apikey: secretKey,
    authorization: `Bearer ${secretKey}`,
    'sec-fetch-site': 'same-origin',
  };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.2', port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

describe.runIf(inject('stack').embedded && canListen)('npm run dev -- --host', () => {
  let env: Awaited<ReturnType<typeof devEnvironment>>;
  let dev: ReturnType<typeof run>;
  let gateway: string;

  beforeAll(async () => {
    env = await devEnvironment(await preparedFolder());
    dev = await startDev(env, '--host', '127.0.0.2');
    gateway = `http://127.0.0.2:${env.PORT}/api/v1`;
  });

  afterAll(async () => {
    dev.kill('SIGINT');
    await dev.exited;
    await rm(env.DEV_DATA_DIR, { recursive: true });
  });

  test('signs URLs of the given address, which serves the files', async () => {
    expect(dev.output.stdout).toContain(`From phones    ${gateway}`);
    const { body: session } = await apiAt(gateway).post('/auth/signin').send(DEMO);
    const token = session.data.access_token;
    const { body: list } = await apiAt(gateway).get('/sounds?limit=1').auth(token, bearer);
    const { body: detail } = await apiAt(gateway).get(`/sounds/${list.data[0].id}`).auth(token, bearer);
    const { audio_url, cover_image_url } = detail.data;
    const files = `http://127.0.0.2:${env.SUPABASE_PORT}/storage/v1/object`;
    expect(audio_url).toMatch(new RegExp(`^${files}/sign/audio/`));
    const part = await fetch(audio_url, { headers: { Range: 'bytes=0-99' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100]);
    for (const url of [cover_image_url, `${files}/public/${list.data[0].cover_image_url}`]) {
      const { status, headers: got } = await fetch(url, { method: 'HEAD' });
      expect([status, got.get('content-type')]).toEqual([200, expect.stringMatching('^image/')]);
    }
  });

  test('serves nothing else of the local Supabase at that address, even with its keys', async () => {
    const up = '/storage/v1/object/public';
    const rejected: [method: string, path: string][] = [
      ['GET', '/'],
      ['GET', '/auth/v1/settings'],
      ['GET', '/auth/v1/admin/users'],
      ['GET', '/rest/v1/sounds'],
      ['GET', '/api/v1/search?query=to:eve@example.com'],
      ['GET', '/storage/v1/bucket'],
      ['GET', '/storage/v1/object/audio/any.mp3'],
      ['GET', '/storage/v1/object/authenticated/audio/any.mp3'],
      ['POST', '/storage/v1/object/sign/audio/any.mp3'],
      ['POST', '/storage/v1/object/list/audio'],
      ['POST', '/storage/v1/object/audio/any.mp3'],
      ['PUT', `${up}/audio/any.mp3`],
      ['DELETE', `${up}/covers/any.jpg`],
      ['POST', '/storage/v1/upload/resumable'],
      ['GET', `${up}/../../../../rest/v1/sounds`],
      ['GET', `${up}/%2e%2e/%2E%2E/%2e./.%2e/rest/v1/sounds`],
      ['GET', `http://127.0.0.1:${env.SUPABASE_PORT}/rest/v1/sounds`],
    ];
    for (const [method, path] of rejected)
      expect([method, path, await statusOf(env.SUPABASE_PORT, method, path)]).toEqual([method, path, 404]);
    const inside = [`${up}/..%2f..%2f..%2f..%2frest/v1/sounds`, `${up}/audio/any.mp3`];
    for (const path of inside)
      expect([path, await statusOf(env.SUPABASE_PORT, 'GET', path)]).toEqual([path, 400]);
    await expect(statusOf(env.SUPABASE_DB_PORT, 'GET', '/')).rejects.toThrow('ECONNREFUSED');
  });

  test('lets the reference send the token of the demo account, also after a reload', async ({ skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the reference.');
    await inBrowser(
      `${gateway}/docs`,
      { width: 1280, colorScheme: 'light' },
      async (page, { complaints }) => {
        for (const _ of ['first', 'again']) {
          await page.getByRole('link', { name: 'Caller profile HTTP Method' }).click();
          const section = page.getByRole('region', { name: 'Caller profile', exact: true });
          await section.getByRole('button', { name: 'Test Request' }).click();
          const client = page.getByRole('dialog');
          await client.getByRole('button', { name: 'Send get request' }).click();
          await client.getByRole('link', { name: '200 OK' }).waitFor();
          await page.reload();
        }
        expect(complaints).toEqual([]);
      },
    );
  });

  test('names pending migrations in a 500, and in no other response', async () => {
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
    await sql`delete from supabase_migrations.schema_migrations where name = 'baseline'`;
    const messageOf = async (path: string) => (await apiAt(gateway).get(path)).body.error?.message;
    expect(await messageOf('/categories')).toBeUndefined();
    expect(await messageOf('/nowhere')).toBe('There is no such path.');
    await sql`drop function public.list_categories`;
    await expect
      .poll(() => messageOf('/categories'))
      .toMatch(
        / In development: supabase\/migrations\/\d+_baseline\.sql has not been applied\. Stop npm run dev, /,
      );
    await sql.end();
  });
});

describe('npm run dev -- --host', () => {
  test.for(['0.0.0.0', '127.0.0.1', '192.0.2.1', 'localhost', 'fe80::1'])(
    'rejects %s, because this machine does not have the address in its network',
    async (address) => {
      const dev = run(['tools/dev/main.ts', '--host', address]);
      expect(await dev.exited).toBe(1);
      expect(dev.output).toEqual({
        stdout: '',
        stderr: expect.stringMatching(/^--host takes an IPv4 address of this machine [^\n]+ is none\.\n$/),
      });
    },
  );
});
