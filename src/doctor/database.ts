import { readdirSync } from 'node:fs';
import { check, Problem } from './check.ts';
import { secretKey } from './project.ts';

const push = 'Apply them: npx supabase link --project-ref <ref>, then npx supabase db push --remote';

export const migrations = check('Migrations', [secretKey], ({ report }) => {
  if (report === null) throw new Problem('Some or all of the migrations have not been applied.', `${push}.`);
  const { migrations: applied } = report;
  const shipped = readdirSync(new URL('../../supabase/migrations', import.meta.url));
  const expected = shipped.map((name) => name.split('_')[0] ?? '').toSorted();
  if (applied === null)
    throw new Problem(
      'The database has no migration history, so it is unknown which migrations were applied.',
      `If they were pasted into the SQL editor: npx supabase migration repair --remote --status applied ${expected.join(' ')}. Otherwise apply them: npx supabase db push --remote.`,
    );
  const missing = expected.filter((version) => !applied.includes(version));
  if (missing.length > 0)
    throw new Problem(`These migrations have not been applied: ${missing.join(', ')}.`, `${push}.`);
  return 'All of supabase/migrations are applied. To find changes made by hand: npm run migration -- --check <database url>, in a clone.';
});

const schedule = "select cron.schedule('sounds-service upkeep', '7 * * * *', 'select private.upkeep()');";
const switchOn =
  "select cron.alter_job(jobid, active := true) from cron.job where command = 'select private.upkeep()';";

export const upkeep = check('Upkeep', [migrations], ({ report }) => {
  const problem = (what: string, remedy: string) =>
    new Problem(`The hourly upkeep ${what}. Popular sounds are not updated, and old rows are not removed.`, remedy);
  if (!report?.upkeep)
    throw problem(
      'is not scheduled',
      `Switch on Cron under Integrations in the dashboard. Run in the SQL editor: ${schedule}`,
    );
  const { active, last_run } = report.upkeep;
  if (!active) throw problem('is switched off', `Run in the SQL editor: ${switchOn}`);
  if (last_run?.status === 'failed')
    throw problem(
      `failed at ${last_run.start_time}: ${last_run.message}`,
      'Run in the SQL editor: select private.upkeep(); Fix the error that it reports. The next run is in an hour at most.',
    );
  return last_run === null ? 'It is scheduled every hour.' : `It last ran at ${last_run.start_time}.`;
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
