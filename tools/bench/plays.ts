import { randomUUID } from 'node:crypto';
import { startScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { median } from 'simple-statistics';
import { milliseconds, whole } from './report.ts';

// What counting plays costs, on a Postgres that waits for the disk as production does. The yardstick is a function that does
// nothing but count, in the same database, in turns.

const connections = 32;
const rounds = 5;
const roundSeconds = 2;
const sounds = 1_000;
const users = 10_000;
/** Plays that one call of the database counts at most, as POST /plays takes them. */
const batch = 100;
const oldReceipts = 200_000;

/** The counter alone: what a play was before it had a receipt, a day and a history. */
const countAlone = `
  create function public.count_alone(played_sound uuid) returns json
  language sql volatile set search_path = '' as $$
    insert into public.play_counts as counter (sound_id, plays)
      select id, 1 from public.sounds where id = played_sound and is_active
      on conflict (sound_id) do update set plays = least(counter.plays + 1, 9007199254740991)
      returning json_build_object('id', counter.sound_id, 'play_count', counter.plays)
  $$`;

/** Plays one after the other until the time is over, each in a transaction of its own: no client takes part, nor a processor of it. */
const playOn = `
  create procedure public.play_on(everything boolean, sounds uuid[], users uuid[], seconds integer, inout plays integer)
  language plpgsql as $$
  declare
    until constant timestamptz := clock_timestamp() + seconds * interval '1 second';
    sound uuid;
  begin
    while clock_timestamp() < until loop
      sound := sounds[ceil(random() * cardinality(sounds))];
      if everything then
        perform public.count_play(sound, users[ceil(random() * cardinality(users))], gen_random_uuid()::text);
      else
        perform public.count_alone(sound);
      end if;
      commit;
      plays := plays + 1;
    end loop;
  end
  $$`;

type Sql = postgres.Sql;

const one = (list: readonly string[]) => list[Math.floor(Math.random() * list.length)] as string;

/**
 * Plays in a second, over these connections at once.
 * @param everything whether receipt, day and history are written, too
 */
async function perSecond(
  clients: Sql[],
  everything: boolean,
  sounds: string[],
  users: string[],
): Promise<number> {
  const plays = await Promise.all(
    clients.map(async (sql) => {
      const [row] =
        await sql`call public.play_on(${everything}, ${sounds}, ${users}, ${roundSeconds}::integer, 0)`;
      return Number(row?.['plays']);
    }),
  );
  return plays.reduce((sum, played) => sum + played) / roundSeconds;
}

/** What the server needs for a statement, in milliseconds; it is committed. */
async function costOf(sql: Sql, statement: string, values: string[]): Promise<number> {
  const [row] = await sql.unsafe(`explain (analyze, timing off, format json) ${statement}`, values);
  return row?.['QUERY PLAN'][0]['Execution Time'];
}

const batchOf = (list: readonly string[]) =>
  JSON.stringify(
    Array.from({ length: batch }, (_, n) => ({
      id: randomUUID(),
      sound_id: one(list),
      played_at: new Date(Date.now() - (n % 20) * 86_400_000).toISOString(),
    })),
  );

async function populate(sql: Sql) {
  await sql.unsafe(countAlone);
  await sql.unsafe(playOn);
  const people = await sql`
    insert into auth.users (id, email)
    select gen_random_uuid(), 'listener-' || n || '@example.com' from generate_series(1, ${users}::int) as n returning id`;
  const catalogue = await sql`
    insert into public.sounds (title) select 'Sound ' || n from generate_series(1, ${sounds}::int) as n returning id`;
  await sql.unsafe('vacuum analyze');
  return { people: people.map(({ id }) => String(id)), catalogue: catalogue.map(({ id }) => String(id)) };
}

type Population = Awaited<ReturnType<typeof populate>>;

/** Plays a second of all connections together: medians of the rounds, and of what they are beside each other in a round. */
async function measureRates(clients: Sql[], { people, catalogue }: Population) {
  const hot = catalogue.slice(0, 1);
  const measured: { alone: number; hot: number; spread: number }[] = [];
  for (let round = 0; round <= rounds; round++)
    measured.push({
      alone: await perSecond(clients, false, hot, people),
      hot: await perSecond(clients, true, hot, people),
      spread: await perSecond(clients, true, catalogue, people),
    });
  measured.shift(); // connections, plans and the first plays of everybody
  return {
    alonePerSecond: median(measured.map((rates) => rates.alone)),
    hotPerSecond: median(measured.map((rates) => rates.hot)),
    spreadPerSecond: median(measured.map((rates) => rates.spread)),
    hotGain: median(measured.map((rates) => rates.hot / rates.alone)),
    hotShare: median(measured.map((rates) => rates.hot / rates.spread)),
  };
}

/** What the server needs on one connection, in milliseconds; neither side waits for the disk. */
async function measureCosts(sql: Sql, { people, catalogue }: Population) {
  await sql`set synchronous_commit = off`;
  const costs = {
    alone: [] as number[],
    play: [] as number[],
    batch: [] as number[],
    pruning: [] as number[],
  };
  const single = () =>
    costOf(sql, 'select public.count_play($1, $2, $3)', [one(catalogue), one(people), randomUUID()]);
  for (let turn = 0; turn < 501; turn++) {
    costs.alone.push(await costOf(sql, 'select public.count_alone($1)', [one(catalogue)]));
    costs.play.push(await single());
  }
  for (let turn = 0; turn < 51; turn++) {
    const values = [batchOf(catalogue), one(people)];
    costs.batch.push(await costOf(sql, 'select public.count_plays($1::text::jsonb, $2)', values));
  }
  await sql`
    insert into private.play_receipts (user_id, key, sound_id, received_at)
    select ${one(people)}, 'old ' || n, ${one(catalogue)}, now() - interval '40 days'
    from generate_series(1, ${oldReceipts}::int) as n`;
  for (let turn = 0; turn < 501; turn++) costs.pruning.push(await single());
  const [aloneMs, playMs, pruningMs] = [median(costs.alone), median(costs.play), median(costs.pruning)];
  return {
    aloneMs,
    playMs,
    playRatio: playMs / aloneMs,
    batchMs: median(costs.batch),
    pruningMs,
    pruningRatio: pruningMs / playMs,
  };
}

export type PlayFigures = Awaited<ReturnType<typeof measurePlays>>;

/** Measures the counting of plays in a database of its own. */
export async function measurePlays() {
  const { databaseUrl, stop } = await startScratchDatabase(17, { durable: true });
  const open = () => postgres(databaseUrl, { max: 1, onnotice() {} });
  const clients = Array.from({ length: connections }, open);
  const [first] = clients as [Sql];
  try {
    const population = await populate(first);
    const rates = await measureRates(clients, population);
    return { ...rates, ...(await measureCosts(first, population)) };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await stop();
  }
}

type Target = { name: string; measured: string; limit: string; kept: boolean };

/** What the counting of plays is held against. */
export function playTargets(figures: PlayFigures): Target[] {
  const { hotGain, hotShare, playRatio, batchMs, pruningRatio } = figures;
  const rate = (perSecond: number) => `${whole(perSecond)} a second`;
  return [
    {
      name: `One sound, ${connections} connections, beside the counter alone (${rate(figures.alonePerSecond)})`,
      measured: `${hotGain.toFixed(1)} × (${rate(figures.hotPerSecond)})`,
      limit: 'at least 2.5 ×',
      kept: hotGain >= 2.5,
    },
    {
      name: `The same, beside ${whole(sounds)} sounds (${rate(figures.spreadPerSecond)})`,
      measured: `${Math.round(100 * hotShare)} %`,
      limit: 'at least 60 %',
      kept: hotShare >= 0.6,
    },
    {
      name: `One play, beside the counter alone (${milliseconds(figures.aloneMs)}), neither waiting for the disk`,
      measured: `${playRatio.toFixed(1)} × (${milliseconds(figures.playMs)})`,
      limit: 'at most 4 ×',
      kept: playRatio <= 4,
    },
    {
      name: `${batch} plays without a network, in one call`,
      measured: milliseconds(batchMs),
      limit: 'at most 15 ms',
      kept: batchMs <= 15,
    },
    {
      name: `One play that takes two of ${whole(oldReceipts)} old receipts with it, beside one play`,
      measured: `${pruningRatio.toFixed(1)} × (${milliseconds(figures.pruningMs)})`,
      limit: 'at most 2 ×',
      kept: pruningRatio <= 2,
    },
  ];
}
