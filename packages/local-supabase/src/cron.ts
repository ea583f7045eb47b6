import { Cron } from 'croner';
import postgres from 'postgres';
import { as } from './database.ts';
import { superuserName } from './postgres.ts';

interface Job {
  jobid: string;
  schedule: string;
  command: string;
  database: string;
  username: string;
}

/** Creates the runs of jobs, each of which `cron.job_run_details` records as pg_cron does. */
function createRuns(sql: postgres.Sql, databaseUrl: string) {
  const connections = new Set<postgres.Sql>();
  const running = new Set<Promise<void>>();

  async function execute({ jobid, database, username, command }: Job): Promise<void> {
    const [started] = await sql`
      insert into cron.job_run_details (jobid, database, username, command, status)
      values (${jobid}, ${database}, ${username}, ${command}, 'connecting') returning runid`;
    const record = (details: object) =>
      sql`update cron.job_run_details set ${sql({ ...details })} where runid = ${started?.['runid']}`;
    const url = new URL(as(username, databaseUrl));
    url.pathname = database;
    const connection = postgres(url.href, { max: 1, onnotice() {} });
    connections.add(connection);
    try {
      const [backend] = await connection`select pg_backend_pid() as job_pid`;
      await record({ ...backend, status: 'running', start_time: new Date() });
      const return_message = messageOf(await connection.unsafe(command).simple());
      await record({ status: 'succeeded', return_message, end_time: new Date() });
    } catch (error) {
      const return_message = `ERROR:  ${(error as Error).message}`;
      await record({ status: 'failed', return_message, end_time: new Date() });
    } finally {
      connections.delete(connection);
      await connection.end();
    }
  }

  return {
    /** Runs a job. @throws an Error if the run cannot be recorded */
    run(job: Job): Promise<void> {
      const run = execute(job).finally(() => running.delete(run));
      running.add(run);
      return run;
    },

    /** Ends the running jobs. */
    async end(): Promise<void> {
      await Promise.all([...connections].map((connection) => connection.end({ timeout: 0 })));
      await Promise.allSettled(running);
    },
  };
}

/**
 * Runs the jobs of `cron.job` as pg_cron does: in UTC, as the user who scheduled them, one run of a job at a time.
 * @param databaseUrl database that `prepareDatabase` has prepared
 * @param log receives a line about each job that cannot run
 * @returns a function that ends the schedule and the running jobs
 */
export async function startCron(databaseUrl: string, log: (line: string) => void): Promise<() => Promise<void>> {
  const sql = postgres(as(superuserName, databaseUrl), { max: 1, onnotice() {} });
  const runs = createRuns(sql, databaseUrl);
  /** Timers by the JSON of their job, so that a changed job gets a new timer. */
  const timers = new Map<string, Cron>();

  const start = (job: Job) =>
    timerOf(job.schedule, () => runs.run(job).catch((error) => log(`Job ${job.jobid} did not run: ${error.message}`)));

  async function load(): Promise<void> {
    const jobs = await sql<Job[]>`select jobid, schedule, command, database, username from cron.job where active`;
    const wanted = new Map(jobs.map((job) => [JSON.stringify(job), job]));
    for (const [key, timer] of timers) {
      if (wanted.has(key)) continue;
      timer.stop();
      timers.delete(key);
    }
    for (const [key, job] of wanted) if (!timers.has(key)) timers.set(key, start(job));
  }

  await sql`
    update cron.job_run_details set status = 'failed', return_message = 'server restarted', end_time = now()
    where status in ('connecting', 'running')`;
  const reload = () => void load().catch((error) => log(`The schedule was not read: ${error.message}`));
  await sql.listen('cron', reload, reload);
  return async () => {
    for (const timer of timers.values()) timer.stop();
    await runs.end();
    await sql.end();
  };
}

function timerOf(schedule: string, run: () => Promise<void>): Cron {
  const interval = /^(\d+) seconds?$/.exec(schedule)?.[1];
  const options = { timezone: 'UTC', unref: true, protect: true } as const;
  if (interval !== undefined) return new Cron('* * * * * *', { ...options, interval: Number(interval) }, run);
  return new Cron(schedule.replace('$', 'L'), { ...options, mode: '5-part' }, run);
}

/** Returns pg_cron's message for the last statement: the number of rows of a SELECT, else the command tag. */
function messageOf(results: postgres.RowList<postgres.Row[]>): string {
  const last = results.at(-1);
  const { command, count } = Array.isArray(last) ? (last as unknown as typeof results) : results;
  if (command === 'SELECT') return `${count} ${count === 1 ? 'row' : 'rows'}`;
  if (command === 'INSERT') return `INSERT 0 ${count}`;
  return count === null ? command : `${command} ${count}`;
}
