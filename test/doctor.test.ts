import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { as } from '../dev/database.ts';
import { SUPERUSER } from '../dev/postgres.ts';
import { type Stack, startStack } from '../dev/stack.ts';
import { loadConfig } from '../src/config.ts';
import type { Result } from '../src/doctor/check.ts';
import { checks, examine } from '../src/doctor/examine.ts';
import { createVisit } from '../src/doctor/visit.ts';
import { startGateway } from './support/gateway.ts';
import { canRunRedis, freePort, startRedis } from './support/redis.ts';

// A stack of its own: it is broken on purpose.
let folder: string;
let stack: Stack;
let sql: postgres.Sql;
let superuser: postgres.Sql;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sounds-service-doctor-'));
  stack = await startStack({ dataDir: folder, apiPort: 0, databasePort: 0, durable: false });
  sql = postgres(stack.databaseUrl, { max: 1, onnotice() {} });
  superuser = postgres(as(SUPERUSER, stack.databaseUrl), { max: 1, onnotice() {} });
});

afterAll(async () => {
  await Promise.all([sql.end(), superuser.end()]);
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  SUPABASE_URL: stack.apiUrl,
  SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
  SUPABASE_SECRET_KEY: stack.secretKey,
  SUPABASE_JWT_SECRET: stack.jwtSecret,
});

const nothing = { users: 0, keys: 0, files: 0 };

/** What of the doctor's is in the project. */
async function left() {
  const [counts] = await superuser`select
    (select count(*) from auth.users)::int as users, (select count(*) from private.api_keys)::int as keys,
    (select count(*) from storage.objects)::int as files`;
  return counts;
}

/** What the doctor finds, by the name of the check. */
async function diagnose(env: Record<string, string> = {}, gateway: string | null = null) {
  const visit = createVisit(
    loadConfig({ ...environment(), ...env }),
    gateway === null ? null : new URL(gateway),
  );
  const results = await examine(visit, () => {});
  await visit.close();
  if (results.every(({ check }) => check !== 'Clearing away')) expect(await left()).toEqual(nothing);
  return Object.fromEntries(results.map((result) => [result.check, result])) as Record<string, Result>;
}

const problemsIn = (results: Record<string, Result>) =>
  Object.values(results)
    .filter(({ status }) => status === 'problem')
    .map(({ check }) => check);

/** The statements that a remedy tells to run in the SQL editor. */
const sqlIn = (remedy = '') => remedy.replace(/^Run in the SQL editor: /, '');

describe.runIf(inject('stack').embedded)('npm run doctor', { timeout: 60_000 }, () => {
  test('finds nothing to fix in a deployment that is right', async () => {
    const results = await diagnose();
    expect(problemsIn(results)).toEqual([]);
    const notChecked = Object.values(results).filter(({ status }) => status === 'not checked');
    expect(notChecked.map(({ check }) => check)).toEqual([
      'Redis',
      'Gateway',
      'Gateway clock',
      'Gateway https',
      'Gateway proxies',
    ]);
    expect(Object.keys(results)).toEqual(checks.map(({ name }) => name));
  });

  describe('names the one thing that is wrong, and its remedy, when', () => {
    test.for<[string, Record<string, string>, string, RegExp]>([
      [
        'the publishable key is another project’s',
        { SUPABASE_PUBLISHABLE_KEY: 'sb_publishable_x' },
        'SUPABASE_PUBLISHABLE_KEY',
        /API Keys/,
      ],
      [
        'the secret key was deleted',
        { SUPABASE_SECRET_KEY: 'sb_secret_x' },
        'SUPABASE_SECRET_KEY',
        /API Keys, .*Secret keys/,
      ],
      [
        'the shared secret is another project’s',
        { SUPABASE_JWT_SECRET: 'x'.repeat(40) },
        'Access tokens',
        /is not the secret of this project: .*JWT Keys/,
      ],
      [
        'the shared secret is missing',
        { SUPABASE_JWT_SECRET: '' },
        'Access tokens',
        /set SUPABASE_JWT_SECRET .*JWT Keys/,
      ],
      [
        'phones cannot reach the public address',
        { SUPABASE_PUBLIC_URL: 'http://127.0.0.1:2' },
        'Signed URLs',
        /SUPABASE_PUBLIC_URL/,
      ],
      ['Redis is not there', { REDIS_URL: 'redis://127.0.0.1:2' }, 'Redis', /REDIS_URL/],
    ])('%s', async ([, env, check, remedy]) => {
      const results = await diagnose(env);
      expect(problemsIn(results)).toEqual([check]);
      expect(results[check]?.remedy).toMatch(remedy);
    });

    test('nothing answers at the address', async () => {
      const results = await diagnose({ SUPABASE_URL: `http://127.0.0.1:${await freePort()}` });
      expect(problemsIn(results)).toEqual(['SUPABASE_URL']);
      expect(results['SUPABASE_URL']).toMatchObject({
        detail: expect.stringContaining('ECONNREFUSED'),
        remedy: expect.stringMatching(/Connect dialog .*paused/),
      });
    });

    test('something else answers there, or the clocks differ', async () => {
      let [status, date] = [404, new Date()];
      const server = createServer((_req, res) => {
        res.writeHead(status, { Date: date.toUTCString() }).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const env = { SUPABASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      expect((await diagnose(env))['SUPABASE_URL']?.detail).toContain('404, as no Supabase project does');
      [status, date] = [200, new Date(Date.now() + 120_000)];
      expect((await diagnose(env))['Clock']).toMatchObject({
        status: 'problem',
        detail: expect.stringMatching(/^The clock of this machine is 1(19|20|21) s behind/),
        remedy: expect.stringContaining('timedatectl'),
      });
      server.close();
    });

    test.for<[string, () => Promise<unknown>, () => Promise<unknown>, string, RegExp]>([
      [
        'a migration is missing',
        () => sql`delete from supabase_migrations.schema_migrations where version = '20260623090600'`,
        () => sql`insert into supabase_migrations.schema_migrations (version) values ('20260623090600')`,
        'Migrations',
        /supabase link .*supabase db push/,
      ],
      [
        'there is no history of migrations',
        () => sql`alter table supabase_migrations.schema_migrations rename to hidden`,
        () => sql`alter table supabase_migrations.hidden rename to schema_migrations`,
        'Migrations',
        /migration repair --status applied 20260623090000 /,
      ],
      [
        'API keys are refused',
        () => superuser`revoke execute on function private.owner_of_live_key from service_role`,
        () => superuser`grant execute on function private.owner_of_live_key to service_role`,
        'API keys',
        /supabase db push/,
      ],
      [
        'no account can be made',
        () =>
          superuser`alter table public.customers add constraint nobody check (email not like '%@doctor.invalid')`,
        () => superuser`alter table public.customers drop constraint nobody`,
        'Accounts',
        /Logs, Postgres/,
      ],
    ])('%s', async ([, breakIt, mend, check, remedy]) => {
      await breakIt();
      const results = await diagnose().finally(mend);
      expect(problemsIn(results)).toEqual([check]);
      expect(results[check]?.remedy).toMatch(remedy);
      expect(problemsIn(await diagnose())).toEqual([]);
    });

    test('no migration was applied at all', async () => {
      await sql`alter function public.doctor_report rename to hidden`;
      await expect.poll(async () => (await diagnose())['Migrations']?.status).toBe('problem');
      const results = await diagnose();
      await sql`alter function public.hidden rename to doctor_report`;
      expect(problemsIn(results)).toEqual(['Migrations']);
      await expect.poll(async () => problemsIn(await diagnose())).toEqual([]);
    });

    test.for<[string, string, string]>([
      ['audio is public', `update storage.buckets set public = true where id = 'audio'`, 'Buckets'],
      ['covers are private', `update storage.buckets set public = false where id = 'covers'`, 'Buckets'],
      [
        'the trigger that makes customers is gone',
        'drop trigger sounds_service_create_customer on auth.users',
        'Triggers on auth.users',
      ],
      [
        'the trigger that follows accounts is gone',
        'drop trigger sounds_service_mirror_account on auth.users',
        'Triggers on auth.users',
      ],
    ])('%s, and its SQL mends it', async ([, damage, check]) => {
      await superuser.unsafe(damage);
      const results = await diagnose();
      expect(problemsIn(results)).toEqual([check]);
      await sql.unsafe(sqlIn(results[check]?.remedy));
      expect(problemsIn(await diagnose())).toEqual([]);
    });

    test('Auth does not believe whose address the gateway forwards', async () => {
      await superuser.unsafe(`
        create function public.forget_address() returns trigger language plpgsql as 'begin new.ip := null; return new; end';
        create trigger forget_address before update on auth.sessions for each row execute function public.forget_address()`);
      // Any address that is not known to be this machine's.
      const hosted = stack.apiUrl.replace('127.0.0.1', '0.0.0.0');
      const [there, here] = [await diagnose({ SUPABASE_URL: hosted }), await diagnose()];
      await superuser.unsafe('drop function public.forget_address cascade');
      expect(problemsIn(there)).toEqual(['IP address forwarding']);
      expect(there['IP address forwarding']?.remedy).toMatch(/Authentication, Rate Limits, .*sb_secret_/);
      expect(here['IP address forwarding']?.status).toBe('not checked');
    });

    test('what it made cannot be removed', async () => {
      await superuser.unsafe(`
        create function public.keep() returns trigger language plpgsql as 'begin return null; end';
        create trigger keep before delete on auth.users for each row execute function public.keep()`);
      const results = await diagnose();
      await superuser.unsafe('drop function public.keep cascade; delete from auth.users');
      expect(problemsIn(results)).toEqual(['Clearing away']);
      expect(results['Clearing away']?.detail).toMatch(/the account \S+@doctor\.invalid/);
    });
  });

  describe('looks at a running gateway, and', () => {
    const gatewayWith = (env: Record<string, string>) => startGateway({ ...environment(), ...env });

    test('finds nothing to fix in one that is right', async () => {
      const gateway = await gatewayWith({});
      const results = await diagnose({}, gateway.url);
      await gateway.close();
      expect(problemsIn(results)).toEqual([]);
      expect(results['Gateway proxies']?.detail).toContain('It takes this machine for 127.0.0.1');
      expect(results['API keys']?.status).toBe('ok');
    });

    test.for<[string, Record<string, string>, string, RegExp]>([
      [
        'trusts no proxy though it needs one',
        { REQUIRE_HTTPS: 'true' },
        'Gateway https',
        /TRUST_PROXY to the number of proxies/,
      ],
      [
        'trusts more proxies than there are',
        { TRUST_PROXY: '1' },
        'Gateway proxies',
        /greater than the number of proxies/,
      ],
      ['cannot reach Supabase', { SUPABASE_URL: 'http://127.0.0.1:2' }, 'Gateway', /Read its log/],
    ])('tells when it %s', async ([, env, check, remedy]) => {
      const gateway = await gatewayWith(env);
      const results = await diagnose({}, gateway.url);
      await gateway.close();
      expect(results[check]?.status).toBe('problem');
      expect(results[check]?.remedy).toMatch(remedy);
    });

    test('tells when it takes a proxy for the client, or answers over plain http', async () => {
      const gateway = await gatewayWith({});
      // Reached under an address from outside, it sees one from inside.
      const results = await diagnose({}, gateway.url.replace('127.0.0.1', '0.0.0.0'));
      await gateway.close();
      expect(problemsIn(results)).toEqual(['Gateway https', 'Gateway proxies']);
      expect(results['Gateway proxies']?.detail).toContain('It takes a proxy for the client (127.0.0.1)');
    });

    test('tells when nothing answers', async () => {
      const results = await diagnose({}, `http://127.0.0.1:${await freePort()}`);
      expect(results['Gateway']?.detail).toContain('ECONNREFUSED');
    });
  });

  test('finds a Redis that answers', async ({ skip }) => {
    skip(!canRunRedis, 'Install redis-server or valkey-server to have the doctor find it.');
    const redis = await startRedis();
    const results = await diagnose({ REDIS_URL: redis.url });
    await redis.stop();
    expect(results['Redis']?.status).toBe('ok');
  });

  const start = (env: Record<string, string>, ...args: string[]) =>
    spawn(process.execPath, ['src/doctor/main.ts', ...args], { env });

  async function run(env: Record<string, string>, ...args: string[]) {
    const child = start(env, ...args);
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (text) => {
        output[stream] += text;
      });
    const [code] = await once(child, 'close');
    return { code, ...output };
  }

  test('says so in plain lines and with exit code 0 or 1, and tells no secret', async () => {
    const right = await run(environment());
    expect(right.code).toBe(0);
    expect(right.stdout).toMatch(/^ok +SUPABASE_URL .*\n[\s\S]*\nNothing needs to be fixed\.\n$/);
    expect(right.stdout).not.toContain('\u001b');
    const wrong = await run({ ...environment(), SUPABASE_JWT_SECRET: 'y'.repeat(40) });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/\n1 problem to fix\.\n$/);
    for (const secret of [stack.secretKey, stack.publishableKey, stack.jwtSecret, 'y'.repeat(40)])
      expect(right.stdout + wrong.stdout + wrong.stderr).not.toContain(secret);
  });

  test('leaves nothing behind when it is interrupted', async () => {
    const child = start(environment());
    const exited = once(child, 'exit');
    child.stdout.on('data', (text) => {
      if (String(text).includes('Signed URLs')) child.kill('SIGINT');
    });
    expect(await exited).toEqual([1, null]);
    expect(await left()).toEqual(nothing);
  });

  test('says so to machines with --json', async () => {
    const { code, stdout } = await run({ ...environment(), SUPABASE_SECRET_KEY: 'sb_secret_x' }, '--json');
    const { ok, results } = JSON.parse(stdout) as { ok: boolean; results: Result[] };
    expect([code, ok]).toEqual([1, false]);
    expect(results.find(({ status }) => status === 'problem')).toEqual({
      check: 'SUPABASE_SECRET_KEY',
      status: 'problem',
      detail: expect.stringMatching(/\.$/),
      remedy: expect.stringMatching(/\.$/),
    });
  });

  test('explains a configuration and arguments that it cannot use, without a stack', async () => {
    const unset = await run({});
    expect([unset.code, unset.stdout]).toEqual([1, '']);
    expect(unset.stderr).toContain('SUPABASE_URL must be');
    const misspelt = await run(environment(), '--gatway', 'x');
    expect(misspelt.code).toBe(1);
    expect(misspelt.stderr).toContain('Usage: npm run doctor');
    expect(misspelt.stderr + unset.stderr).not.toMatch(/\n {4}at /);
  });
});
