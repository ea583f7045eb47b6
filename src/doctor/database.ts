import { readdirSync, readFileSync } from 'node:fs';
import { missingMigrations } from '../supabase/setup-problems.ts';
import { mayNotUsePrivate, problemOf, secretKey } from './project.ts';
import { Problem, reasonOf, throwAll } from './result.ts';
import { check } from './run.ts';

const folder = new URL('../../supabase/migrations/', import.meta.url);

export const migrations = check('Migrations', [secretKey], ({ report }) => {
  if (report === null) throw problemOf(missingMigrations);
  const { migrations: applied } = report;
  const expected = readdirSync(folder)
    .map((name) => name.split('_')[0] ?? '')
    .toSorted();
  if (applied === null)
    throw new Problem(
      'The database has no migration history, so it is unknown which migrations were applied.',
      `If they were pasted into the SQL editor: npx supabase migration repair --remote --status applied ${expected.join(' ')}. Otherwise apply them: npx supabase db push --remote.`,
    );
  const missing = expected.filter((version) => !applied.includes(version));
  if (missing.length > 0)
    throw new Problem(`These migrations have not been applied: ${missing.join(', ')}.`, missingMigrations.remedy);
  return 'All of supabase/migrations are applied. To find changes made by hand: npm run migration -- --check <database url>, in a clone.';
});

const schedule = "select cron.schedule('sounds-service upkeep', '7 * * * *', 'select private.upkeep()');";
const alter = (change: string) =>
  `Run in the SQL editor: select cron.alter_job(jobid, ${change}) from cron.job where command = 'select private.upkeep()';`;

const isHourly = (schedule: string) => /^(@hourly|\d+ seconds?|\S+ \*(\/1)? \* \* \*)$/.test(schedule);

export const upkeep = check('Upkeep', [migrations], ({ report }) => {
  const problem = (what: string, remedy: string) =>
    new Problem(`The hourly upkeep ${what}. Popular sounds are not updated, and old rows are not removed.`, remedy);
  if (!report?.upkeep)
    throw problem(
      'is not scheduled',
      `Switch on Cron under Integrations in the dashboard. Run in the SQL editor: ${schedule}`,
    );
  const { active, schedule: actual, last_run } = report.upkeep;
  if (!active) throw problem('is switched off', alter('active := true'));
  if (!isHourly(actual)) throw problem(`is scheduled as "${actual}"`, alter("schedule := '7 * * * *'"));
  if (last_run?.is_old)
    throw problem(
      `last ran at ${last_run.start_time}, more than three hours ago`,
      'Run in the SQL editor: select private.upkeep(); If it is not run again within an hour, restart the database under Project Settings, General.',
    );
  if (last_run?.status === 'failed')
    throw problem(
      `failed at ${last_run.start_time}: ${reasonOf(last_run.message)}`,
      'Run in the SQL editor: select private.upkeep(); Fix the error that it reports. The next run is in an hour at most.',
    );
  return last_run === null ? 'It is scheduled every hour.' : `It last ran at ${last_run.start_time}.`;
});

export const rowSecurity = check('Row-level security', [migrations], ({ report }) => {
  throwAll(
    (report?.tables_without_row_security ?? []).map(
      (table) =>
        new Problem(
          `It is off for ${table}: users may read and change the rows of others.`,
          `Run in the SQL editor: alter table ${table} enable row level security;`,
        ),
    ),
  );
  return 'It is on for every table of the data API and of Storage.';
});

/** Trigger that the migrations create only where Auth has passkeys. */
const passkeyTrigger = 'sounds_service_refuse_passkey';

/** Returns the names of the triggers that the migrations create on tables of Auth. */
function declaredTriggers(hasPasskeys: boolean): string[] {
  const sql = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const names = sql.join('\n').matchAll(/^ *create trigger (sounds_service_\w+)/gm);
  return [...names].map(([, name = '']) => name).filter((name) => hasPasskeys || name !== passkeyTrigger);
}

/** Checks the triggers, because owners of the database can switch one off, or drop it with a function. */
export const triggers = check('Triggers', [migrations], ({ report }) => {
  const found = report?.triggers ?? {};
  const off = Object.keys(found).filter((name) => !found[name]?.is_on);
  const missing = declaredTriggers(report?.has_passkeys ?? false).filter((name) => !(name in found));
  if (off.length + missing.length === 0) return 'All triggers of the service are on.';
  throw new Problem(
    `These triggers are off or missing: ${[...off, ...missing].toSorted().join(', ')}. Accounts may be taken over, or have no customer.`,
    'Run npm run migration -- --check <database url> in a clone, and the SQL that it prints in the SQL editor.',
  );
});

export const privateSchema = check('Schema private', [migrations], ({ report }) => {
  const roles = report?.roles_without_private ?? [];
  if (roles.length > 0) throw mayNotUsePrivate(roles);
  return 'The roles of the API may use it.';
});

/** Checks that every account has a customer, because a user without one gets 404 for the profile. */
export const customers = check('Customers', [migrations], ({ report }) => {
  if (!report?.has_accounts_without_customer) return 'Every account has one.';
  throw new Problem(
    'There are accounts without a customer: the profile is missing, and favorites, history and positions fail.',
    'Run in the SQL editor: insert into public.customers select customer.* from auth.users as account, private.customer_of(account) as customer where account.deleted_at is null on conflict (id) do nothing;',
  );
});

/** Counts the trash, so that a deletion by mistake is noticed before the upkeep makes it final. */
export const trash = check('Trash', [migrations], ({ report }) => {
  if (!report?.trash) return 'It is empty.';
  return `It has ${report.trash}. After 30 days they are deleted for good. The view admin.trash lists them.`;
});

export const exposedSchemas = check('Exposed schemas', [secretKey], async (run) => {
  for (const name of ['private', 'admin']) {
    const headers = { 'Content-Profile': name };
    const { status } = await run.askAsService('/rest/v1/rpc/doctor_report', { headers, body: {} });
    if (status !== 406)
      throw new Problem(
        `The data API serves the schema ${name}, which must not be reachable over HTTP.`,
        `Remove ${name} from "Exposed schemas" under Project Settings, Data API, in the dashboard.`,
      );
  }
  return 'The data API serves neither private nor admin.';
});
