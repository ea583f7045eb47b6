import { describe, expect, inject } from 'vitest';
import { type Sql, test } from '../../../test/support/test.ts';

type Run = Record<'username' | 'database' | 'command' | 'status' | 'return_message', string>;

/** The runs of a job that have ended. */
const runsOf = (sql: Sql, jobid: string) => sql<Run[]>`
  select username, database, command, status, return_message from cron.job_run_details
  where jobid = ${jobid} and end_time is not null order by runid`;

async function schedule(sql: Sql, name: string, timing: string, command: string): Promise<string> {
  const [row] = await sql`select cron.schedule(${name}, ${timing}, ${command}) as jobid`;
  return row?.['jobid'];
}

const unschedule = (sql: Sql, job: string) => sql`select cron.unschedule(${job}::bigint)`;

// A project given by the environment need not have Cron.
describe.runIf(inject('stack').embedded)('Supabase Cron', () => {
  test('a job runs as the user who scheduled it, and its result is recorded', async ({ sql }) => {
    const own = 'select from pg_stat_activity where pid = pg_backend_pid() and usename = current_user';
    for (const [command, status, return_message] of [
      [own, 'succeeded', '1 row'],
      ['select generate_series(1, 2)', 'succeeded', '2 rows'],
      ['select 1; create temporary table t as select 2; delete from t', 'succeeded', 'DELETE 1'],
      ['create temporary table t (n int); insert into t values (1), (2)', 'succeeded', 'INSERT 0 2'],
      ['do $$ begin perform 1; end $$', 'succeeded', 'DO'],
      ['select 1 / 0', 'failed', 'ERROR:  division by zero'],
    ] as const) {
      const job = await schedule(sql, 'recorded', '1 second', command);
      await expect.poll(() => runsOf(sql, job)).not.toHaveLength(0);
      await unschedule(sql, job);
      const [run] = await runsOf(sql, job);
      expect(run).toEqual({ username: 'postgres', database: 'postgres', command, status, return_message });
    }
  });

  test('scheduling a name again changes the job of that name', async ({ sql }) => {
    const first = await schedule(sql, 'twice', '1 second', 'select 1');
    expect(await schedule(sql, 'twice', '2 seconds', 'select 2')).toBe(first);
    expect(await sql`select schedule, command, active from cron.job where jobname = 'twice'`).toEqual([
      { schedule: '2 seconds', command: 'select 2', active: true },
    ]);
    await expect.poll(async () => (await runsOf(sql, first)).at(-1)?.command).toBe('select 2');
    await unschedule(sql, first);
  });

  test('a job is unscheduled by its name or its id', async ({ sql }) => {
    const named = await schedule(sql, 'by name', '0 3 * * *', 'select 1');
    const [unnamed] = await sql`select cron.schedule('0 3 * * *', 'select 1') as jobid`;
    expect(await sql`select cron.unschedule('by name')`).toEqual([{ unschedule: true }]);
    expect(await unschedule(sql, unnamed?.['jobid'])).toEqual([{ unschedule: true }]);
    expect(await sql`select from cron.job where jobid in (${named}, ${unnamed?.['jobid']})`).toEqual([]);
    await expect(sql`select cron.unschedule('by name')`).rejects.toThrow(
      "could not find valid entry for job 'by name'",
    );
  });

  test('a job that is switched off does not run', async ({ sql }) => {
    const off = await schedule(sql, 'off', '1 second', 'select 1');
    await sql`select cron.alter_job(${off}, active := false)`;
    const before = await runsOf(sql, off);
    const on = await schedule(sql, 'on', '1 second', 'select 1');
    await expect.poll(async () => (await runsOf(sql, on)).length).toBeGreaterThan(1);
    expect(await runsOf(sql, off)).toEqual(before);
    await unschedule(sql, off);
    await unschedule(sql, on);
  });

  test('runs of one job do not overlap', async ({ sql }) => {
    const job = await schedule(sql, 'slow', '1 second', 'select pg_sleep(1.2)');
    await expect.poll(async () => (await runsOf(sql, job)).length).toBeGreaterThan(1);
    await unschedule(sql, job);
    const [overlap] = await sql`
      select from cron.job_run_details as one join cron.job_run_details as other using (jobid)
      where jobid = ${job} and one.runid < other.runid and other.start_time < one.end_time`;
    expect(overlap).toBeUndefined();
  });

  test('a schedule is a cron expression or an interval in seconds', async ({ sql }) => {
    const fields = '1,2-5/2,*/7 3 1-7 jan-mar MON';
    for (const timing of ['*/5 * * * *', '0 0 $ * *', fields, '0 0 * * 7', '59 seconds', '@daily'])
      await unschedule(sql, await schedule(sql, 'valid', timing, 'select 1'));
    const outOfRange = ['60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '60 seconds'];
    for (const timing of [...outOfRange, '* * * *', '* * * * * *', 'daily', '']) {
      const scheduled = schedule(sql, 'invalid', timing, 'select 1');
      await expect(scheduled).rejects.toThrow(`invalid schedule: ${timing}`);
    }
  });
});
