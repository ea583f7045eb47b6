import { readFile } from 'node:fs/promises';
import { describe, expect, inject, test as plain } from 'vitest';
import shipped from '../../src/doctor/schema.json' with { type: 'json' };
import { differences } from '../../src/doctor/schema.ts';
import { test } from './stack.ts';

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' | '));

/** What administrators do by mistake, the line that names it, and, where the remedy of that line is no SQL, what mends it. */
const mistakes = rowsOf(`
  alter table public.history disable row level security | table public.history: row-level security is switched off.
  alter table public.sounds disable row level security | table public.sounds: row-level security is switched off.
  alter table public.favorites disable row level security | table public.favorites: row-level security is switched off.
  alter role authenticated bypassrls | role authenticated: row-level security is switched off.
  grant service_role to authenticated | role authenticated: membership of service_role does not belong to this service.
  revoke execute on function public.list_sounds from authenticated | function public.list_sounds(filters jsonb): the grant of execute to authenticated is missing.
  revoke execute on function public.get_sound from authenticated | function public.get_sound(wanted_sound uuid): the grant of execute to authenticated is missing.
  grant execute on function private.purge_audit_log to public | function private.purge_audit_log(): the grant of execute to public does not belong to this service.
  grant execute on function public.doctor_report to authenticated | function public.doctor_report(): the grant of execute to authenticated does not belong to this service.
  revoke select on public.categories from authenticated | table public.categories: the grant of select to authenticated is missing.
  grant select on public.customers to anon | table public.customers: the grant of select to anon does not belong to this service.
  grant truncate on public.play_counts to public | table public.play_counts: the grant of truncate to public does not belong to this service.
  grant update (is_active) on public.customers to authenticated | table public.customers: the grant of update (is_active) to authenticated does not belong to this service.
  revoke update (phone) on public.customers from authenticated | table public.customers: the grant of update (phone) to authenticated is missing.
  grant select on admin.api_keys to authenticated | view admin.api_keys: the grant of select to authenticated does not belong to this service.
  grant usage on schema admin to authenticated | schema admin: the grant of usage to authenticated does not belong to this service.
  revoke usage on schema private from anon | schema private: the grant of usage to anon is missing.
  create policy "Everybody" on public.home_sections for select to anon using (true) | table public.home_sections: policy "Everybody" does not belong to this service.
  drop policy "Users read active categories" on public.categories | table public.categories: policy "Users read active categories" is missing.
  alter policy "Users read their own favorites" on public.favorites using (true) | table public.favorites: policy "Users read their own favorites" was changed.
  alter policy "Nobody reaches API keys" on private.api_keys to anon | table private.api_keys: policy "Nobody reaches API keys" was changed.
  alter table auth.users disable trigger sounds_service_purge_audit_log | table auth.users: trigger sounds_service_purge_audit_log is switched off.
  alter table auth.users disable trigger sounds_service_create_customer | table auth.users: trigger sounds_service_create_customer is switched off.
  alter table auth.users disable trigger sounds_service_reset_unverified_credentials | table auth.users: trigger sounds_service_reset_unverified_credentials is switched off.
  drop trigger sounds_service_mirror_account on auth.users | table auth.users: trigger sounds_service_mirror_account is missing.
  create or replace trigger sounds_service_suspend_ban before insert on auth.users for each row execute function private.suspend_ban() | table auth.users: trigger sounds_service_suspend_ban was changed.
  drop trigger sounds_service_refuse_factor on auth.mfa_factors | table auth.mfa_factors: trigger sounds_service_refuse_factor is missing.
  alter table auth.users disable trigger sounds_service_refuse_change | table auth.users: trigger sounds_service_refuse_change is switched off.
  alter table public.sounds disable trigger sounds_set_updated_at | table public.sounds: trigger sounds_set_updated_at is switched off.
  alter function public.list_home_sections rename to list_home | function public.list_home_sections() is missing. | alter function public.list_home rename to list_home_sections
  alter function private.list_categories rename to list_them | function private.list_categories() is missing. | alter function private.list_them rename to list_categories
  create or replace function private.is_https_address(value text) returns boolean language sql as 'select true' | function private.is_https_address(value text): definition was changed.
  alter function public.get_customer security definer | function public.get_customer(): definition was changed.
  create function public.remove_favorite(disliked_sound text) returns boolean language sql as 'select true' | function public.remove_favorite(disliked_sound text) does not belong to this service, and calls of the function of this name may reach it.
  alter table public.customers rename column last_seen_at to seen_at | table public.customers: column last_seen_at is missing. | alter table public.customers rename column seen_at to last_seen_at
  alter table public.customers alter is_active drop not null | table public.customers: column is_active was changed. | alter table public.customers alter is_active set not null
  alter table public.customers drop constraint phone_is_e164_like_plus_491701234567 | table public.customers: constraint phone_is_e164_like_plus_491701234567 is missing.
  drop index public.history_newest_first | table public.history: index history_newest_first is missing.
  alter view private.customer reset (security_invoker) | view private.customer: security_invoker is switched off.
  alter view admin.most_played rename to top_sounds | view admin.most_played is missing. | alter view admin.top_sounds rename to most_played
`);

/** What administrators may add under names of their own. */
const additions = `
  create table public.notes (id integer primary key); grant all on public.notes to anon;
  create view admin.newest as select * from public.sounds order by created_at desc;
  create function admin.tidy() returns integer language sql as 'select 1'; grant execute on function admin.tidy to anon;
  alter table public.sounds add column note text; create index sounds_by_note on public.sounds (note);
  alter table public.sounds add constraint note_is_short check (length(note) < 100);
  create function public.tell_crm() returns trigger language plpgsql as 'begin return null; end';
  create trigger tell_crm after insert on public.sounds for each row execute function public.tell_crm()`;

/** What a remedy has an administrator run. */
async function sqlOf(remedy: string): Promise<string> {
  const [, file, name] = /definition from (\S+) .* "create or replace function (\S+)"/.exec(remedy) ?? [];
  if (file === undefined) return remedy.replace(/^Run in the SQL editor: /, '');
  const [, definition] = (await readFile(file, 'utf8')).split(`create function ${name}`);
  return `create or replace function ${name}${definition?.split('\n$$;')[0]}\n$$`;
}

describe.runIf(inject('stack').embedded)('npm run doctor compares the schema with what was shipped', () => {
  test('names each mistake in a line of its own, whose SQL mends it as the role postgres, and nothing that is an addition', async ({
    ownStack,
  }) => {
    await ownStack.sql.unsafe(additions);
    // Hosted projects let their administrators do more to the tables of Auth.
    for (const [sql = ''] of mistakes)
      await (sql.includes('auth.') ? ownStack.superuser : ownStack.sql).unsafe(sql);
    const found = (await ownStack.diagnose()).filter(({ check }) => check === 'Schema');
    expect(found.map(({ detail }) => detail).toSorted()).toEqual(mistakes.map(([, line]) => line).toSorted());
    for (const { detail, remedy = '' } of found) {
      const [, , mending] = mistakes.find(([, line]) => line === detail) ?? [];
      await ownStack.sql.unsafe(mending ?? (await sqlOf(remedy)));
    }
    expect((await ownStack.diagnose()).filter(({ status }) => status === 'problem')).toEqual([]);
  });
});

plain('a remedy for each object that may be missing names the file that defines it', () => {
  const objects = Object.entries(shipped).filter(([object]) => /^(function|table|view) /.test(object));
  const found = differences(Object.fromEntries(objects), {});
  expect(found.length).toBeGreaterThan(objects.length);
  for (const { what, remedy } of found) expect(remedy, what).not.toContain('undefined');
});

plain('a column of Auth that is text in one release and varchar in another makes no difference', () => {
  const found = JSON.parse(
    JSON.stringify(shipped).replaceAll(
      /\((COALESCE\([a-z._]+, '')::character varying\)\)::text/g,
      '$1::text)',
    ),
  );
  expect(found).not.toEqual(shipped);
  expect(differences(shipped, found)).toEqual([]);
});
