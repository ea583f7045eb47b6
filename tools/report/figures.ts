import postgres from 'postgres';

/** One row per day in UTC, oldest first, including days without activity. */
export interface Day {
  /** Date in the form YYYY-MM-DD. */
  day: string;
  plays: number;
  listeners: number;
  sign_ups: number;
  guests: number;
  active: number;
  deleted: number;
}

/** Sounds in the order of `admin.top_sounds`: by listeners, then by days. */
interface TopSound {
  title: string;
  listeners: number;
  days_played: number;
  plays: number;
}

export interface Figures {
  days: Day[];
  topSounds: TopSound[];
}

const topSoundsMax = 20;

/**
 * Reads the use of the service on the last days, including today, from the views of the schema `admin`.
 * @param databaseUrl for a role that can read this schema, such as `postgres`
 * @throws a PostgresError, or an Error with the code of a failed connection
 */
export async function readFigures(databaseUrl: string, days: number): Promise<Figures> {
  const sql = postgres(databaseUrl, { max: 1, ssl: 'prefer', connect_timeout: 10, types: { bigint } });
  try {
    const first = sql`(now() at time zone 'UTC')::date - ${days - 1}::int`;
    const [byDay, topSounds] = await sql.begin('read only isolation level repeatable read', (transaction) => [
      transaction<Day[]>`
        select
          series.day::date::text as day, coalesce(plays, 0) as plays, coalesce(listeners, 0) as listeners,
          coalesce(sign_ups, 0) as sign_ups, coalesce(guests, 0) as guests, coalesce(active, 0) as active,
          coalesce(deleted, 0) as deleted
        from generate_series((${first})::timestamp, now() at time zone 'UTC', interval '1 day') as series (day)
          left join (select day, sum(plays)::bigint as plays from admin.plays_by_day group by day) as played using (day)
          left join admin.listeners_by_day using (day)
          left join admin.accounts_by_day using (day)
        order by series.day`,
      transaction<TopSound[]>`
        select title, listeners, days_played, plays from admin.top_sounds(${days}) limit ${topSoundsMax}`,
    ]);
    return { days: [...byDay], topSounds: [...topSounds] };
  } finally {
    await sql.end();
  }
}

/** Reads bigint as a number, because the database keeps counts below 2^53. */
const bigint = { to: 20, from: [20], serialize: String, parse: Number };
