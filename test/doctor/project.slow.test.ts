import { describe, expect, inject } from 'vitest';
import { test } from './own-stack.ts';
import { findingsOf, resultOf } from './stack.ts';

describe.runIf(inject('stack').embedded)('npm run doctor', () => {
  describe('reports a damage of the project with its remedy:', () => {
    const history = 'supabase_migrations.schema_migrations';
    type Damage = [damage: string, finding: RegExp, mending?: string];

    // Each row has damages that the doctor finds in one run. They are repaired before the next row.
    test.for<[string, ...Damage[]]>([
      [
        'a missing migration and public audio',
        [
          `update ${history} set version = '2' || version`,
          /^Migrations: These .*supabase link .*supabase db push/,
          `update ${history} set version = substr(version, 2)`,
        ],
        ["update storage.buckets set public = true where id = 'audio'", /^Buckets: .* audio is public/],
      ],
      [
        'no migration history and private covers',
        [
          `alter table ${history} rename to hidden`,
          /^Migrations: .* no migration history.* repair --remote --status applied \d{14}/,
          'alter table supabase_migrations.hidden rename to schema_migrations',
        ],
        ["update storage.buckets set public = false where id = 'covers'", /^Buckets: .* covers is private/],
      ],
      [
        'no upkeep and a table that rejects users',
        ['delete from cron.job', /^Upkeep: .* not scheduled.* Run in the SQL editor: select cron\.schedule/i],
        [
          "alter table public.customers add constraint nobody check (email not like '%@doctor.invalid')",
          /^Accounts: .*Logs, Postgres/,
          'alter table public.customers drop constraint nobody',
        ],
      ],
      [
        'upkeep that is switched off and a policy on files',
        ['update cron.job set active = false', /^Upkeep: .* switched off.* select cron\.alter_job/],
        [
          'create policy "Sign" on storage.objects for select to authenticated using (true)',
          /^Storage policies: .*"Sign".*delete the policies on storage\.objects/,
          'drop policy "Sign" on storage.objects',
        ],
      ],
      [
        'upkeep that failed, and guests whom Auth refuses',
        [
          'insert into private.guests_allowed default values',
          /^Guests: .*Switch on "Allow anonymous sign-ins"/,
          'delete from private.guests_allowed',
        ],
        [
          `insert into cron.job_run_details (jobid, status, return_message, start_time)
            select jobid, 'failed', 'ERROR: no space left', now() from cron.job`,
          /^Upkeep: .* failed at \S+: ERROR: no space left\..*select private\.upkeep\(\)/,
          'delete from cron.job_run_details',
        ],
      ],
      [
        'an upkeep once a year, an upload policy, row-level security and triggers that are off',
        ["update cron.job set schedule = '7 0 1 1 *'", /^Upkeep: .* as "7 0 1 1 \*"\..* select cron\.alter_job/],
        ['alter table private.api_keys disable row level security', /^Row-level security: .* for private\.api_keys: /],
        ['alter table public.customers disable row level security', /^Row-level security: .* for public\.customers: /],
        [
          `alter table auth.users disable trigger sounds_service_mirror_account;
            alter trigger sounds_service_refuse_link on auth.identities rename to of_an_administrator;
            alter trigger sounds_service_refuse_passkey on auth.webauthn_credentials rename to of_passkeys;
            alter table public.customers disable trigger customers_keep`,
          /^Triggers: .*: customers_keep, sounds_service_mirror_account, sounds_service_refuse_link, sounds_service_refuse_passkey\. .*--check/,
          `alter table auth.users enable trigger sounds_service_mirror_account;
            alter trigger of_an_administrator on auth.identities rename to sounds_service_refuse_link;
            alter trigger of_passkeys on auth.webauthn_credentials rename to sounds_service_refuse_passkey;
            alter table public.customers enable trigger customers_keep`,
        ],
        [
          `alter table auth.users disable trigger sounds_service_create_customer;
            insert into auth.users (id, email) values (gen_random_uuid(), 'early@example.com');
            alter table auth.users enable trigger sounds_service_create_customer`,
          /^Customers: .*insert into public\.customers select/,
        ],
        [
          `create policy "Upload" on storage.objects for insert to anon with check (true);
            create policy "Replace" on storage.objects for update using (bucket_id = 'covers');
            create policy "Avatars" on storage.objects for all to authenticated using (bucket_id = 'avatars')`,
          /^Storage policies: .*"Replace", "Upload"\. /,
          'drop policy "Upload" on storage.objects; drop policy "Replace" on storage.objects; drop policy "Avatars" on storage.objects',
        ],
        [
          `create policy "Make public" on storage.buckets for update to authenticated using (true);
            create policy "See" on storage.buckets for select to authenticated using (true)`,
          /^Storage policies: .* change buckets: "Make public"\. .* on storage\.buckets/,
          'drop policy "Make public" on storage.buckets; drop policy "See" on storage.buckets',
        ],
      ],
      [
        'upkeep that last ran four hours ago, and an account whose password a trigger changes',
        [
          `insert into cron.job_run_details (jobid, status, start_time)
            select jobid, 'succeeded', now() - interval '4 hours' from cron.job`,
          /^Upkeep: .* more than three hours ago\..*select private\.upkeep\(\)/,
          'delete from cron.job_run_details',
        ],
        [
          'alter table auth.users disable trigger sounds_service_note_new_account',
          /^Triggers: .*sounds_service_note_new_account\./,
          'alter table auth.users enable trigger sounds_service_note_new_account',
        ],
        [
          'select 1',
          /^Access tokens: .*: The e-mail address or the password is wrong\. A trigger .*"Triggers" above/,
          'select 1',
        ],
      ],
    ])('%s', async ([, ...damages], { ownStack }) => {
      for (const [damage] of damages) await ownStack.superuser.unsafe(damage);
      const findings = await findingsOf(ownStack.diagnose());
      for (const [index, [, , mending]] of damages.entries()) {
        const [, sql = ''] = / Run in the SQL editor: (.*)/.exec(findings[index] ?? '') ?? [];
        await ownStack.superuser.unsafe(mending ?? sql);
      }
      expect(findings).toEqual(damages.map(([, finding]) => expect.stringMatching(finding)));
    });

    test('the function of the report is missing', async ({ ownStack }) => {
      await ownStack.sql`alter function public.doctor_report rename to hidden`;
      const status = async () => resultOf(await ownStack.diagnose(), 'Migrations')?.status;
      await expect.poll(status).toBe('problem');
      await ownStack.sql`alter function public.hidden rename to doctor_report`;
      await expect.poll(status).toBe('ok');
    });

    test.for(['doctor_report', 'doctor_issue_key'])('%s is revoked from the secret key', async (name, { ownStack }) => {
      await ownStack.sql.unsafe(`revoke execute on function private.${name} from service_role`);
      const findings = await findingsOf(ownStack.diagnose());
      expect(findings).toEqual([expect.stringContaining(`The role of the secret key may not execute ${name}. Run in`)]);
      await ownStack.sql.unsafe(/Run in the SQL editor: (.*)/.exec(findings[0] ?? '')?.[1] ?? '');
    });

    test.for(['anon', 'service_role'])('%s may not use the schema private', async (role, { ownStack }) => {
      await ownStack.sql.unsafe(`revoke usage on schema private from ${role}`);
      const findings = await findingsOf(ownStack.diagnose());
      expect(findings[0]).toMatch(
        /: These roles may not use the schema private: \w+\. .* grant usage on schema private/,
      );
      await ownStack.sql.unsafe(/Run in the SQL editor: (.*)/.exec(findings[0] ?? '')?.[1] ?? '');
    });

    test('a failing trigger of another program, which postgres can drop by its function', async ({ ownStack }) => {
      await ownStack.sql.unsafe(`
        create function public.sync_to_crm() returns trigger language plpgsql as 'begin raise exception ''no CRM''; end';
        create trigger sync_to_crm after insert on auth.users for each row execute function public.sync_to_crm()`);
      await expect(ownStack.sql.unsafe('drop trigger sync_to_crm on auth.users')).rejects.toThrow(/must be owner/);
      const [finding = ''] = await findingsOf(ownStack.diagnose());
      expect(finding).toMatch(/^Accounts: .*look at Logs, Postgres/);
      const [, search = ''] = /(select tgname.*?);/.exec(finding) ?? [];
      const found = await ownStack.sql.unsafe(search);
      expect(found).toEqual([{ tgname: 'sync_to_crm', tgfoid: 'sync_to_crm()' }]);
      const [removal = ''] = /drop function .*/.exec(finding) ?? [];
      await ownStack.sql.unsafe(removal.replace('<tgfoid>', found[0]?.['tgfoid']));
    });

    test('Auth of a hosted project ignores client addresses and has second factors enabled', async ({ ownStack }) => {
      await ownStack.superuser.unsafe(`
        create function extensions.forget_address() returns trigger language plpgsql as 'begin new.ip := null; return new; end';
        create trigger forget_address before update on auth.sessions for each row execute function extensions.forget_address()`);
      // Use an address that the doctor does not recognize as local.
      const hosted = ownStack.apiUrl.replace('127.0.0.1', '0.0.0.0');
      const there = await findingsOf(ownStack.diagnose({ SUPABASE_URL: hosted }));
      const here = await ownStack.diagnose();
      await ownStack.superuser.unsafe('drop function extensions.forget_address cascade');
      const finding = /^IP address forwarding: .*Authentication, Rate Limits, .*sb_secret_/;
      expect(there).toEqual([
        expect.stringMatching(/^warning in Sign-in settings: "Confirm email" .*docs\/deploy\.md/),
        expect.stringMatching(/^warning in CAPTCHA: .*Attack Protection/),
        expect.stringMatching(/^warning in Multi-factor sign-in: .*Authentication, Multi-Factor/),
        expect.stringMatching(finding),
      ]);
      expect(resultOf(here, 'IP address forwarding')?.status).toBe('not checked');
    });

    test.for([
      ['auth.users', /^Clean-up: .*the account \S+@doctor\.invalid/],
      ['storage.objects', /^Clean-up: .*the file doctor-\S+ in the bucket (audio|covers)/],
    ] as const)("the doctor's account in %s cannot be removed", async ([table, finding], { ownStack }) => {
      await ownStack.superuser.unsafe(`
        create function extensions.keep() returns trigger language plpgsql as 'begin return null; end';
        create trigger keep before delete on ${table} for each row execute function extensions.keep()`);
      const findings = await findingsOf(ownStack.diagnose());
      await ownStack.superuser.unsafe(`drop function extensions.keep cascade; delete from ${table}`);
      expect(findings[0]).toMatch(finding);
    });

    test('nothing once all of these are mended', async ({ ownStack }) => {
      expect(await findingsOf(ownStack.diagnose())).toEqual([]);
    });
  });
});
