import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject } from 'vitest';
import { checks } from '../../src/doctor/examine.ts';
import { type DoctorStack, problemsIn, test } from '../support/doctor-stack.ts';
import { freePort } from '../support/ports.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';

type Act = (ownStack: DoctorStack) => Promise<unknown>;

/** The statements that a remedy tells to run in the SQL editor. */
const sqlIn = (remedy = '') => remedy.replace(/^Run in the SQL editor: /, '');

describe.runIf(inject('stack').embedded)('npm run doctor', () => {
  test('finds nothing to fix in a correct deployment', async ({ ownStack }) => {
    const results = await ownStack.diagnose();
    expect(problemsIn(results)).toEqual([]);
    const notChecked = Object.values(results).filter(({ status }) => status === 'not checked');
    expect(notChecked.map(({ check }) => check)).toEqual([
      'Read replica',
      'Redis',
      'Gateway',
      'Gateway clock',
      'Gateway https',
      'Gateway proxies',
    ]);
    expect(Object.keys(results)).toEqual(checks.map(({ name }) => name));
  });

  describe('reports the one problem and its remedy when', () => {
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
        'phones cannot reach the public address',
        { SUPABASE_PUBLIC_URL: 'http://127.0.0.1:2' },
        'Signed URLs',
        /SUPABASE_PUBLIC_URL/,
      ],
      ['Redis is not there', { REDIS_URL: 'redis://127.0.0.1:2' }, 'Redis', /REDIS_URL/],
    ])('%s', async ([, env, check, remedy], { ownStack }) => {
      const results = await ownStack.diagnose(env);
      expect(problemsIn(results)).toEqual([check]);
      expect(results[check]?.remedy).toMatch(remedy);
    });

    test.for([
      ['of a hosted project', '0.0.0.0', /Connect dialog .*paused/],
      ['of a local one', '127.0.0.1', /npm run dev.* supabase start.* SUPABASE_PORT/],
      ['of a local one by its name', 'localhost', /npm run dev.* supabase start.* SUPABASE_PORT/],
    ] as const)('nothing answers at the address %s', async ([, host, remedy], { ownStack }) => {
      const results = await ownStack.diagnose({ SUPABASE_URL: `http://${host}:${await freePort()}` });
      expect(problemsIn(results)).toEqual(['SUPABASE_URL']);
      expect(results['SUPABASE_URL']).toMatchObject({
        detail: expect.stringContaining('ECONNREFUSED'),
        remedy: expect.stringMatching(remedy),
      });
    });

    test('anonymous sign-ins are switched on', async ({ ownStack }) => {
      const check = 'Sign-in settings';
      expect((await ownStack.diagnose())[check]?.detail).toContain('{{ .Token }}');
      const server = createServer((_req, res) => {
        res.writeHead(200, { 'Content-Type': 'application/json' });
        res.end('{"external":{"anonymous_users":true,"email":true},"mailer_autoconfirm":false}');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const env = { SUPABASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      expect((await ownStack.diagnose(env))[check]).toMatchObject({
        status: 'problem',
        remedy: expect.stringContaining('Allow anonymous sign-ins'),
      });
      server.close();
    });

    test('another server answers at the address, or the clocks differ', async ({ ownStack }) => {
      let [status, aheadMs] = [404, 0];
      const server = createServer((_req, res) => {
        res.writeHead(status, { Date: new Date(Date.now() + aheadMs).toUTCString() }).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const env = { SUPABASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      expect((await ownStack.diagnose(env))['SUPABASE_URL']?.detail).toContain(
        '404, which no Supabase project does',
      );
      [status, aheadMs] = [200, 120_000];
      expect((await ownStack.diagnose(env))['Clock']).toMatchObject({
        status: 'problem',
        detail: expect.stringMatching(/^The clock of this machine is 1(19|20|21) s behind/),
        remedy: expect.stringContaining('timedatectl'),
      });
      server.close();
    });

    test.for<[string, Act, Act, string, RegExp]>([
      [
        'a migration is missing',
        ({ sql }) => sql`delete from supabase_migrations.schema_migrations where version = '20261122200000'`,
        ({ sql }) =>
          sql`insert into supabase_migrations.schema_migrations (version) values ('20261122200000')`,
        'Migrations',
        /supabase link .*supabase db push/,
      ],
      [
        'there is no history of migrations',
        ({ sql }) => sql`alter table supabase_migrations.schema_migrations rename to hidden`,
        ({ sql }) => sql`alter table supabase_migrations.hidden rename to schema_migrations`,
        'Migrations',
        /migration repair --status applied 20261122200000/,
      ],
      [
        'API keys are refused',
        ({ superuser }) => superuser`revoke execute on function private.owner_of_live_key from service_role`,
        ({ superuser }) => superuser`grant execute on function private.owner_of_live_key to service_role`,
        'API keys',
        /supabase db push/,
      ],
      [
        'no account can be made',
        ({ superuser }) =>
          superuser`alter table public.customers add constraint nobody check (email not like '%@doctor.invalid')`,
        ({ superuser }) => superuser`alter table public.customers drop constraint nobody`,
        'Accounts',
        /Logs, Postgres/,
      ],
    ])('%s', async ([, breakIt, mend, check, remedy], { ownStack }) => {
      await breakIt(ownStack);
      const results = await ownStack.diagnose().finally(() => mend(ownStack));
      expect(problemsIn(results)).toEqual([check]);
      expect(results[check]?.remedy).toMatch(remedy);
      expect(problemsIn(await ownStack.diagnose())).toEqual([]);
    });

    test('the migration with the function of the report is missing', async ({ ownStack }) => {
      await ownStack.sql`alter function public.doctor_report rename to hidden`;
      const status = async () => (await ownStack.diagnose())['Migrations']?.status;
      await expect.poll(status).toBe('problem');
      const results = await ownStack.diagnose();
      await ownStack.sql`alter function public.hidden rename to doctor_report`;
      expect(problemsIn(results)).toEqual(['Migrations']);
      await expect.poll(status).toBe('ok');
    });

    test.for<[string, string, string]>([
      ['audio is public', `update storage.buckets set public = true where id = 'audio'`, 'Buckets'],
      ['covers are private', `update storage.buckets set public = false where id = 'covers'`, 'Buckets'],
      [
        'the trigger that makes customers is gone',
        'drop trigger sounds_service_create_customer on auth.users',
        'Triggers on auth.users',
      ],
    ])('%s, and its SQL fixes it', async ([, damage, check], { ownStack }) => {
      const triggers = () =>
        ownStack.sql`select pg_get_triggerdef(oid) as definition from pg_trigger where tgrelid = 'auth.users'::regclass and not tgisinternal order by 1`;
      const before = await triggers();
      await ownStack.superuser.unsafe(damage);
      const results = await ownStack.diagnose();
      expect(problemsIn(results)).toEqual([check]);
      await ownStack.sql.unsafe(sqlIn(results[check]?.remedy));
      expect(problemsIn(await ownStack.diagnose())).toEqual([]);
      expect(await triggers()).toEqual(before);
    });

    test('Auth ignores the client address that the gateway forwards', async ({ ownStack }) => {
      await ownStack.superuser.unsafe(`
        create function public.forget_address() returns trigger language plpgsql as 'begin new.ip := null; return new; end';
        create trigger forget_address before update on auth.sessions for each row execute function public.forget_address()`);
      // Any address that is not known to be this machine's.
      const hosted = ownStack.apiUrl.replace('127.0.0.1', '0.0.0.0');
      const [there, here] = [await ownStack.diagnose({ SUPABASE_URL: hosted }), await ownStack.diagnose()];
      await ownStack.superuser.unsafe('drop function public.forget_address cascade');
      expect(problemsIn(there)).toEqual(['IP address forwarding']);
      expect(there['IP address forwarding']?.remedy).toMatch(/Authentication, Rate Limits, .*sb_secret_/);
      expect(here['IP address forwarding']?.status).toBe('not checked');
    });

    test.for([
      ['auth.users', /the account \S+@doctor\.invalid/],
      ['storage.objects', /the file doctor-\S+ in the bucket (audio|covers)/],
    ] as const)('what it made in %s cannot be removed', async ([table, what], { ownStack }) => {
      await ownStack.superuser.unsafe(`
        create function public.keep() returns trigger language plpgsql as 'begin return null; end';
        create trigger keep before delete on ${table} for each row execute function public.keep()`);
      const results = await ownStack.diagnose();
      await ownStack.superuser.unsafe(`drop function public.keep cascade; delete from ${table}`);
      expect(problemsIn(results)).toEqual(['Clean-up']);
      expect(results['Clean-up']?.detail).toMatch(what);
    });
  });

  test('accepts a Redis that answers', async ({ ownStack, skip }) => {
    skip(!canRunRedis, 'Install redis-server or valkey-server to have the doctor find it.');
    const redis = await startRedis();
    const results = await ownStack.diagnose({ REDIS_URL: redis.url });
    await redis.stop();
    expect(results['Redis']?.status).toBe('ok');
  });
});
