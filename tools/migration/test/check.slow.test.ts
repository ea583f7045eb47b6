import { readFile } from 'node:fs/promises';
import { as, migrate } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabaseWithPgCron } from '../../../test/support/pg-cron.ts';
import { startDatabase } from '../../../test/support/prepared.ts';
import { checkDatabase, scriptOf } from '../check.ts';

/** Mistakes of administrators, with the beginning of the fix. */
const mistakes = `
  alter table public.history disable row level security | alter table "public"."history" enable row level security
  grant select on public.customers to anon | revoke all on table "public"."customers" from "anon"
  grant update on public.customers to authenticated | from "authenticated"; grant update (full_name,
  grant usage on schema admin to authenticated | revoke all on schema "admin" from "authenticated"
  create policy "Everybody" on public.home_sections for select to anon using (true) | drop policy "Everybody"
  alter table auth.users disable trigger sounds_service_create_customer | create or replace trigger sounds_service_create_customer
  drop trigger sounds_service_mirror_account on auth.users | create or replace trigger sounds_service_mirror_account
  create or replace trigger sounds_service_suspend_ban before insert on auth.users for each row execute function private.suspend_ban() | create or replace trigger sounds_service_suspend_ban
  alter table public.sounds disable trigger sounds_set_updated_at | alter table "public"."sounds" enable trigger "sounds_set_updated_at"
  alter function public.list_home_sections rename to list_home | create or replace function public.list_home_sections
  create function public.remove_favorite(sound text) returns boolean language sql as 'select true' | drop function "public"."remove_favorite"(text)
  alter table public.customers rename column last_seen_at to seen_at | alter table "public"."customers" add column "last_seen_at"
  drop index public.history_newest_first | create index history_newest_first
  comment on function public.get_sound is null | comment on function "public"."get_sound"
  revoke execute on function public.get_sound from authenticated | grant execute on function "public"."get_sound"(uuid) to "authenticated"
  alter function private.list_categories reset enable_seqscan | create or replace function private.list_categories
  alter view admin.most_played rename to top_sounds | create view admin.most_played`
  .trim()
  .split('\n')
  .map((row) => row.trim().split(' | '));

/** Objects that administrators may add under other names. */
const additions = `
  create table public.notes (id integer primary key); grant all on public.notes to anon;
  create view admin.newest as select * from public.sounds order by created_at desc;
  create function admin.tidy() returns integer language sql as 'select 1'; grant execute on function admin.tidy to anon;
  alter table public.sounds add column note text; create index sounds_by_note on public.sounds (note);
  alter table public.sounds add constraint note_is_short check (length(note) < 100);
  create function public.tell_crm() returns trigger language plpgsql as 'begin return null; end';
  create trigger tell_crm after insert on public.sounds for each row execute function public.tell_crm();
  create trigger tell_crm after insert on auth.users for each row execute function public.tell_crm();
  create extension "uuid-ossp" schema extensions;
  alter default privileges in schema public grant all on tables to anon`;

test('npm run migration -- --check ignores the real pg_cron and its jobs', {
  tags: ['pg-cron'],
  timeout: 180_000,
}, async () => {
  const { databaseUrl, stop } = await startDatabaseWithPgCron();
  await migrate(databaseUrl);
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  expect(await sql`select jobname from cron.job`).toEqual([{ jobname: 'sounds-service upkeep' }]);
  await sql`select cron.schedule('of an administrator', '0 5 * * *', 'select 1')`;
  await sql`alter table public.favorites disable row level security`;
  const fix = expect.stringMatching(/favorites.*\s+enable row level/);
  expect(await checkDatabase(databaseUrl)).toMatchObject([{ fix }]);
  await sql.end();
  await stop();
});

test('npm run migration -- --check reports each mistake and its fix, and no addition', async () => {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  const superuser = postgres(as(superuserName, databaseUrl), { max: 1, onnotice() {} });
  await sql.unsafe(additions);
  await superuser`drop table auth.webauthn_credentials`; // as in older projects
  await superuser`grant all on schema public to postgres`; // as on some platforms
  // Hosted projects let administrators change more of the tables of Auth.
  for (const [mistake = ''] of mistakes) await (mistake.includes('auth.') ? superuser : sql).unsafe(mistake);
  const differences = await checkDatabase(databaseUrl);
  const fixes = differences.map(({ fix }) => fix.replace(/\s+/g, ' '));
  for (const [mistake, fix = ''] of mistakes) expect(fixes, mistake).toContainEqual(expect.stringContaining(fix));
  expect(fixes.join()).not.toMatch(
    /\bnotes\b|admin"\."newest|tidy|note\b|tell_crm|uuid-ossp|default privileges|schema "public"/i,
  );
  for (const { source } of differences) {
    const [file = '', line] = source.split(':');
    expect((await readFile(file, 'utf8')).split('\n')[Number(line) - 1], source).toMatch(/^create /);
  }
  await sql.unsafe(scriptOf(differences));
  expect(await checkDatabase(databaseUrl)).toEqual([]);
  await Promise.all([sql.end(), superuser.end()]);
  await stop();
}, 180_000); // compares all objects twice
