import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { localKeys } from '@sounds-service/local-supabase/keys';
import { startPostgres } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { apiAt, bearer } from '../../../test/support/api.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { childrenOf, devEnvironment, run, serverPid, startDev, untilGone } from '../../../test/support/processes.ts';
import { demoAccount, freeAccount } from '../seed.ts';

// 127.0.0.2 stands for the address in the network, because Linux listens on all of 127.0.0.0/8.
const isLinux = process.platform === 'linux';

// Each test continues with the data of the previous one.
describe.runIf(inject('stack').embedded)('npm run dev', () => {
  let folder: string;
  let env: Awaited<ReturnType<typeof devEnvironment>>;
  let dev: ReturnType<typeof run>;

  const dbPort = () => Number(env.SUPABASE_DB_PORT);

  function query(text: string) {
    const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${dbPort()}/postgres`);
    return sql.unsafe(text).finally(() => sql.end());
  }

  const apiOn = (host: string) => `http://${host}:${env.PORT}/api/v1`;

  beforeAll(async () => {
    folder = await preparedFolder();
    env = await devEnvironment(folder);
    dev = await startDev(env, '--confirm-email', ...(isLinux ? ['--host', '127.0.0.2'] : []));
  });

  test('requires confirmation of new accounts with --confirm-email, and prints the code', async () => {
    const api = apiAt(apiOn('127.0.0.1'));
    const account = { email: 'eve@example.com', password: 'first-password' };
    expect(dev.output.stdout).not.toContain('Mail to');
    const { body } = await api.post('/auth/signup').send(account).expect(200);
    expect(body).toMatchObject({ data: { needs_email_confirmation: true } });
    await dev.until('Mail to eve@example.com: ');
    const lookUp = /^CODE=.*$/m.exec(dev.output.stdout)?.[0];
    const code = execFileSync('sh', { input: `${lookUp}; echo $CODE`, encoding: 'utf8', stdio: 'pipe' });
    expect(dev.output.stdout).toContain(`Mail to eve@example.com: Confirm Your Signup, code ${code}`);
    await api.post('/auth/signin').send(account).expect(401);
  });

  test.runIf(isLinux)(
    '--host signs URLs of the address, which serves the files and nothing else',
    {
      tags: ['curl'],
    },
    async () => {
      expect(dev.output.stdout).toContain(`From phones    ${apiOn('127.0.0.2')}`);
      const api = apiAt(apiOn('127.0.0.2'));
      const token = (await api.post('/auth/signin').send(demoAccount)).body.data.access_token;
      const { body: list } = await api.get('/sounds?limit=1').auth(token, bearer);
      const { body: detail } = await api.get(`/sounds/${list.data[0].id}`).auth(token, bearer);
      const { audio_url, cover_image_url } = detail.data;
      const supabase = `http://127.0.0.2:${env.SUPABASE_PORT}`;
      const open = '/storage/v1/object/public';
      expect(audio_url).toMatch(new RegExp(`^${supabase}/storage/v1/object/sign/audio/`));
      const part = await fetch(audio_url, { headers: { Range: 'bytes=0-99' } });
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100]);
      for (const url of [cover_image_url, `${supabase}${open}/${list.data[0].cover_image_url}`]) {
        const { status, headers } = await fetch(url, { method: 'HEAD' });
        expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching('^image/')]);
      }

      /** Sends a path unchanged, with the secret key and with the headers of Studio. */
      const statusOf = (method: string, path: string) => {
        const { secretKey: key } = localKeys;
        const headers = [`apikey: ${key}`, `Authorization: Bearer ${key}`, 'Sec-Fetch-Site: same-origin'];
        const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-X', method, '--request-target', path];
        const sent = headers.flatMap((header) => ['-H', header]);
        return execFileSync('curl', [...args, ...sent, supabase], { encoding: 'utf8' });
      };
      for (const [method, path, expected] of [
        ['GET', '/', '404'],
        ['GET', '/auth/v1/admin/users', '404'],
        ['GET', '/rest/v1/sounds', '404'],
        ['GET', '/api/v1/search?query=to:eve@example.com', '404'],
        ['GET', '/storage/v1/object/authenticated/audio/any.mp3', '404'],
        ['POST', '/storage/v1/object/sign/audio/any.mp3', '404'],
        ['DELETE', `${open}/covers/any.jpg`, '404'],
        ['GET', `${open}/../../../../rest/v1/sounds`, '404'],
        ['GET', `${open}/%2e%2e/%2E%2E/%2e./.%2e/rest/v1/sounds`, '404'],
        ['GET', `http://127.0.0.1:${env.SUPABASE_PORT}/rest/v1/sounds`, '404'],
        ['GET', `${open}/..%2f..%2f..%2f..%2frest/v1/sounds`, '400'],
        ['GET', `${open}/audio/any.mp3`, '400'],
      ] as const)
        expect([method, path, statusOf(method, path)]).toEqual([method, path, expected]);
      await expect(fetch(`http://127.0.0.2:${env.SUPABASE_DB_PORT}`)).rejects.toThrow();
    },
  );

  test('gives the reference a token of the demo account', async () => {
    const api = apiOn('127.0.0.1');
    const script = await (await fetch(`${api}/docs/start.js`)).text();
    const [, token = ''] = /"token":"([^"]+)"/.exec(script) ?? [];
    const { body } = await apiAt(api).get('/me').auth(token, bearer).expect(200);
    expect(body.data.email).toBe(demoAccount.email);
  });

  test('creates the demo account again after its deletion', async () => {
    const api = apiAt(apiOn('127.0.0.1'));
    const signIn = () => api.post('/auth/signin').send(demoAccount);
    await api
      .delete('/me')
      .auth((await signIn()).body.data.access_token, bearer)
      .expect(200);
    await expect.poll(async () => (await signIn()).status).toBe(200);
  });

  test('keeps its data after each way of ending, and rejects --empty where it has samples', async () => {
    await query('create table public.kept as select 7 as n');
    process.kill(serverPid(join(folder, 'postgres')), 'SIGKILL');
    expect(await dev.exited).toBe(1);
    expect(dev.output.stderr).toContain('PostgreSQL stopped unexpectedly');
    await untilGone(folder);

    dev = await startDev(env);
    expect(await query('select n from public.kept')).toEqual([{ n: 7 }]);
    await query('insert into public.kept values (8)');
    // Kills the supervisors too, so that nothing ends the child processes, such as Postgres.
    const keepers = childrenOf(dev.pid);
    dev.kill('SIGKILL');
    for (const { pid } of keepers) process.kill(pid, 'SIGKILL');
    await dev.exited;

    // Starts again, which first ends the Postgres that was left.
    const rejected = run(['tools/dev/main.ts', '--empty'], env);
    expect([await rejected.exited, rejected.output.stderr]).toEqual([
      1,
      'The catalogue has the samples. To forget all data: npm run dev -- --fresh --empty\n',
    ]);
    const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: dbPort(), durable: false });
    expect(await query('select n from public.kept order by n')).toEqual([{ n: 7 }, { n: 8 }]);
    await server.stop();
  });

  test('omits the samples after --fresh --empty and from then on', async () => {
    const expectNoSamples = async () => {
      expect(dev.output.stdout).toContain('The catalogue has no samples');
      const [counts] = await query(`
        select to_regclass('public.kept') as kept, (select count(*)::int from public.sounds) as sounds,
          (select count(*)::int from public.categories) as categories, (select count(*)::int from storage.objects) as files,
          (select array_agg(email order by email) from auth.users) as users`);
      const none = { kept: null, sounds: 0, categories: 0, files: 0 };
      expect(counts).toEqual({ ...none, users: [demoAccount.email, freeAccount.email] });
    };
    dev = await startDev(env, '--fresh', '--empty');
    expect(dev.output.stdout).toContain('Applying migrations');
    await expectNoSamples();
    dev.kill('SIGINT');
    expect(await dev.exited).toBe(0);
    dev = run(['run', 'dev'], env, 'npm');
    await dev.until('Ctrl-C stops everything.');
    await expectNoSamples();
  });

  test('names what is in use in one sentence', async () => {
    // npm runs the program since the test before, and Debian's shell stays between both.
    const [child] = childrenOf(dev.pid);
    const first = [child, ...childrenOf(child?.pid ?? 0)].find((it) => it && !it.command.startsWith('sh '));
    const inUse = `The data folder \\S+ is in use by another npm run dev, process ${first?.pid}: stop that one, or [^\n]+\\.`;
    const taken = ['PORT', 'PLAYER_PORT', 'SUPABASE_PORT', 'SUPABASE_DB_PORT'].map(
      (name) => `Port ${env[name as keyof typeof env]} is in use by another program; set ${name} to another one\\.`,
    );
    for (const [given, args, sentences] of [
      [env, ['--fresh'], [inUse]],
      [{ ...env, DEV_DATA_DIR: `${folder}/other` }, [], taken],
    ] as const) {
      const { exited, output } = run(['tools/dev/main.ts', ...args], given);
      expect(await exited).toBe(1);
      expect(output.stderr).toMatch(new RegExp(`^${sentences.join('\n')}\n$`));
    }
    expect((await fetch(`http://127.0.0.1:${env.PORT}/readyz`)).status).toBe(200);
  });

  test('names pending migrations in a 500 and no other response, and ends with its npm', async () => {
    await query(`delete from supabase_migrations.schema_migrations where name = 'baseline'`);
    const messageOf = async (path: string) => (await apiAt(apiOn('127.0.0.1')).get(path)).body.error?.message;
    expect(await messageOf('/categories')).toBeUndefined();
    expect(await messageOf('/nowhere')).toBe('There is no such path.');
    await query('drop function public.list_categories');
    await expect
      .poll(() => messageOf('/categories'))
      .toMatch(/ In development: supabase\/migrations\/\d+_baseline\.sql has not been applied\. Stop npm run/);
    // Ends only npm, as a supervisor would.
    dev.kill('SIGHUP');
    await dev.exited;
    await untilGone(folder);
  });

  test('ends on Ctrl-C during the preparation', async () => {
    const anew = await preparedFolder();
    dev = run(['tools/dev/main.ts'], { ...env, DEV_DATA_DIR: anew });
    await dev.until('Seeding the catalogue');
    // Sends it twice, because npm forwards a signal that the terminal also sends.
    for (const _ of [1, 2]) dev.kill('SIGINT');
    expect([await dev.exited, dev.output.stderr]).toEqual([0, '']);
    await untilGone(anew);
  });
});
