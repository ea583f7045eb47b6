import { describe, expect, inject } from 'vitest';
import { type Sql, test } from '../../../test/support/test.ts';

/** Returns the finished runs of a job. */
const runsOf = (sql: Sql, jobid: string) => sql`
  select username, database, command, status, return_message from cron.job_run_details
  where jobid = ${jobid} and end_time is not null order by runid`;

async function schedule(sql: Sql, name: string, timing: string, command: string): Promise<string> {
  const [row] = await sql`select cron.schedule(${name}, ${timing}, ${command}) as jobid`;
  return row?.['jobid'];
}

const unschedule = (sql: Sql, job: string) => sql`select cron.unschedule(${job}::bigint)`;

// The project of TEST_SUPABASE_URL may not have Cron.
describe.runIf(inject('stack').embedded)('Supabase Cron', () => {
  test('a job runs as the user who scheduled it, and its result is recorded, unless it is inactive', async ({
    sql,
  }) => {
    const own = 'select from pg_stat_activity where pid = pg_backend_pid() and usename = current_user';
    const commands = [
      [own, 'succeeded', '1 row'],
      ['select generate_series(1, 2)', 'succeeded', '2 rows'],
      ['select 1; create temporary table t as select 2; delete from t', 'succeeded', 'DELETE 1'],
      ['create temporary table t (n int); insert into t values (1), (2)', 'succeeded', 'INSERT 0 2'],
      ['select 1 / 0', 'failed', 'ERROR:  division by zero'],
    ] as const;
    await sql`select cron.alter_job(cron.schedule('off', '1 second', 'select 1'), active := false)`;
    const jobs = await Promise.all(commands.map(([command]) => schedule(sql, command, '1 second', command)));
    for (const [index, [command, status, return_message]] of commands.entries()) {
      const job = jobs[index] ?? '';
      await expect.poll(() => runsOf(sql, job)).not.toHaveLength(0);
      await unschedule(sql, job);
      const [run] = await runsOf(sql, job);
      expect(run).toEqual({ username: 'postgres', database: 'postgres', command, status, return_message });
    }
    expect(await sql`select from cron.job_run_details join cron.job using (jobid) where jobname = 'off'`).toEqual([]);
    await sql`select cron.unschedule('off')`;
  });

  test('a job is replaced by scheduling its name again, and removed by its name or id', async ({ sql }) => {
    const first = await schedule(sql, 'twice', '1 second', 'select 1');
    expect(await schedule(sql, 'twice', '2 seconds', 'select 2')).toBe(first);
    expect(await sql`select schedule, command, active from cron.job where jobname = 'twice'`).toEqual([
      { schedule: '2 seconds', command: 'select 2', active: true },
    ]);
    await expect.poll(async () => (await runsOf(sql, first)).at(-1)?.['command']).toBe('select 2');
    const byName = () => sql`select cron.unschedule('twice')`;
    expect(await byName()).toEqual([{ unschedule: true }]);
    const [unnamed] = await sql`select cron.schedule('0 3 * * *', 'select 1') as jobid`;
    expect(await unschedule(sql, unnamed?.['jobid'])).toEqual([{ unschedule: true }]);
    expect(await sql`select from cron.job where jobid in (${first}, ${unnamed?.['jobid']})`).toEqual([]);
    await expect(byName()).rejects.toThrow("could not find valid entry for job 'twice'");
  });

  test('a schedule is a cron expression or an interval in seconds', async ({ sql }) => {
    const fields = '1,2-5/2,*/7 3 1-7 jan-mar MON';
    for (const timing of ['*/5 * * * *', '0 0 $ * *', fields, '0 0 * * 7', '59 seconds', '@daily'])
      await unschedule(sql, await schedule(sql, 'valid', timing, 'select 1'));
    const outOfRange = ['60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '60 seconds'];
    for (const timing of [...outOfRange, '* * * *', '* * * * * *', 'daily', '']) {
      const invalid = schedule(sql, 'invalid', timing, 'select 1');
      await expect(invalid).rejects.toThrow(`invalid schedule: ${timing}`);
    }
  });
});
