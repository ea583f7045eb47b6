import postgres from 'postgres';

/** Number of rows to load. */
export interface Size {
  sounds: number;
  categories: number;
  customers: number;
  /** Favorites of all customers except the collector. */
  favorites: number;
}

/** Size of a busy service after years. */
export const largeSize: Size = { sounds: 100_000, categories: 500, customers: 10_000, favorites: 1_000_000 };

/** Customer with the longest list of favorites, at any size. */
export const collectorId = 'c0000000-0000-4000-8000-000000000001';
export const collectorFavorites = 2_000;

/** Number of rule sections of the home page. */
const sectionCount = 20;

/**
 * Loads a catalogue through the real constraints and triggers, in a few statements, with a fixed random seed. A few
 * categories, customers and sounds have most of the rows. Existing rows stay unchanged.
 * @param log called with the duration of each step
 * @throws a PostgresError 23505 if it was loaded before; then nothing is written
 */
export async function load(databaseUrl: string, size: Size, log: Log = () => {}) {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  try {
    await sql.begin((transaction) => loadRows(transaction, size, log));
    await timed(log, 'popular order', () => sql`select private.upkeep()`);
    // Autovacuum does the same within minutes.
    await timed(log, 'statistics', () => sql.unsafe('vacuum analyze'));
  } finally {
    await sql.end();
  }
}

type Log = (line: string) => void;

async function timed(log: Log, name: string, work: () => Promise<unknown>) {
  const started = performance.now();
  await work();
  log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Loads the rows without updating the statistics. */
async function loadRows(sql: Transaction, size: Size, log: Log = () => {}) {
  await sql`select setseed(0.42)`;
  await timed(log, `${size.categories} categories`, () => loadCategories(sql, size));
  await timed(log, `${size.sounds} sounds`, () => loadSounds(sql, size));
  await timed(log, `${size.customers} customers`, () => loadCustomers(sql, size));
  await timed(log, `${size.favorites} favorites`, () => loadFavorites(sql, size));
  await timed(log, 'histories', () => loadHistories(sql));
  await timed(log, 'positions', () => loadProgress(sql));
  await timed(log, 'removals from histories', () => loadClearings(sql));
  await timed(log, `${sectionCount} home sections`, () => loadSections(sql));
}

type Transaction = postgres.TransactionSql;

/** Loads categories, one in ten as a parent. */
async function loadCategories(sql: Transaction, { categories }: Size) {
  const insert = (first: number, last: number, parent: postgres.Fragment) => sql`
    insert into public.categories (slug, name, sort_order, parent_id)
    select 'category-' || n, 'Category ' || n, n, ${parent} from generate_series(${first}::int, ${last}::int) as n`;
  const parents = Math.ceil(categories / 10);
  await insert(1, parents, sql`null`);
  await insert(
    parents + 1,
    categories,
    sql`(select id from public.categories where slug = 'category-' || n % ${parents} + 1)`,
  );
}

async function loadSounds(sql: Transaction, { sounds, categories }: Size) {
  // Some sounds are deleted again, because lists also keep the positions of deleted sounds.
  const withdrawn = Math.ceil(sounds / 20);
  await sql`create temporary table loaded_sounds (id uuid, title text, created_at timestamptz) on commit drop`;
  await sql`
    with added as (insert into public.sounds
      (title, description, duration_sec, frequency_hz, category, tags, cover_image_path, audio_path, is_featured, is_active,
       sort_order, created_at)
    select
      concat_ws(' ', adjectives[ceil(random() * 24)], nouns[ceil(random() * 24)], places[ceil(random() * 16)], n),
      repeat('Recorded in one take, without cuts. ', (random() * 8)::int + 1), (random() * 3600)::int + 1,
      case when random() < 0.3 then (random() * 800)::int + 50 end,
      'category-' || ceil(${categories}::int * (1 - random()) ^ 3), array[lower(nouns[ceil(random() * 24)]), 'loop'],
      n || '.jpg', n || '.mp3', random() < 0.02, random() < 0.97,
      case when random() < 0.1 then (random() * 40)::int - 20 else 0 end, now() - random() * interval '5 years'
    from generate_series(1, ${sounds + withdrawn}::int) as n, (select
      '{Deep,Soft,Slow,Warm,Bright,Distant,Quiet,Endless,Gentle,Heavy,Light,Golden,Silver,Blue,Morning,Evening,Midnight,
        Summer,Winter,Autumn,Hidden,Open,Frozen,Zen}'::text[] as adjectives,
      '{Rain,Bowl,Gong,Waves,Wind,Fire,Forest,River,Thunder,Birds,Crickets,Drone,Chimes,Handpan,Flute,Choir,Heartbeat,Breath,
        Noise,Train,Café,Storm,Creek,Owl}'::text[] as nouns,
      '{by the Lake,in the Attic,over Tokyo,under Pines,at Dawn,at Sea,on Tin Roofs,in a Cave,from Afar,in C3,in F#4,near Kyōto,
        in the Valley,on the Moor,at 432 Hz,for Sleep}'::text[] as places
    ) as words
    returning id, title, created_at) insert into loaded_sounds select * from added`;
  await sql`
    with withdrawn as (
      delete from loaded_sounds where id in (select id from loaded_sounds order by title limit ${withdrawn}) returning id
    )
    update public.sounds set is_active = false, deleted_at = now() where id in (select id from withdrawn)`;
  await sql`select private.delete_from_trash('sounds', array(select id from public.sounds where deleted_at is not null))`;
  await sql`
    insert into public.play_counts (sound_id, plays)
    select id, ceil(10 * random() ^ -1.5) from loaded_sounds where random() < 0.6`;
}

/** Loads accounts. Their trigger creates the customers. */
async function loadCustomers(sql: Transaction, { customers }: Size) {
  await sql`create temporary table loaded_customers (id uuid) on commit drop`;
  await sql`
    with added as (insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data, created_at)
    select
      case n when 1 then ${collectorId} else gen_random_uuid() end, 'customer-' || n || '@example.com',
      jsonb_build_object('full_name', 'Customer ' || n), '{"provider": "email", "providers": ["email"]}',
      now() - random() * interval '5 years'
    from generate_series(1, ${customers}::int) as n
    returning id) insert into loaded_customers select * from added`;
}

/** Draws random pairs, and draws again for each duplicate. */
async function loadFavorites(sql: Transaction, { favorites, sounds, customers }: Size) {
  // Drawing would take long or never end with fewer free pairs.
  if (favorites > (customers * sounds) / 10)
    throw new Error('There are not enough customers and sounds for so many favorites.');
  await sql`
    create temporary table numbered_sounds on commit drop as
      select row_number() over (order by created_at) as n, id from loaded_sounds`;
  await sql`
    create temporary table numbered_customers on commit drop as
      select row_number() over (order by id) as n, id from loaded_customers`;
  await sql`
    insert into public.favorites (user_id, sound_id, created_at)
    select ${collectorId}, id, now() - n * interval '1 minute' from numbered_sounds
    order by n desc limit ${Math.min(collectorFavorites, sounds)}`;
  for (let missing = favorites; missing > 0; ) {
    const [row] = await sql`
      with drawn as (
        select ceil(${customers}::int * (1 - random()) ^ 1.5) as customer, ceil(${sounds}::int * (1 - random()) ^ 2) as sound
        from generate_series(1, ${missing}::int)
      ), added as (
        insert into public.favorites (user_id, sound_id, created_at)
        select customer.id, sound.id, now() - random() * interval '3 years'
        from drawn
          join numbered_customers as customer on customer.n = drawn.customer and customer.id <> ${collectorId}
          join numbered_sounds as sound on sound.n = drawn.sound
        order by 1, 2
        on conflict do nothing returning 1
      )
      select count(*)::int as count from added`;
    missing -= row?.['count'];
  }
}

/** Loads one entry of the history per favorite, one hour apart. */
async function loadHistories(sql: Transaction) {
  await sql`
    insert into public.history (user_id, sound_id, plays, last_played_at)
    select favorite.user_id, sound_id, 1 + (random() * 20)::int,
      now() - row_number() over (partition by favorite.user_id order by favorite.created_at) * interval '1 hour'
    from public.favorites as favorite join loaded_customers on id = favorite.user_id`;
}

/** Loads 200 positions, the maximum, for the collector and 99 other users. */
async function loadProgress(sql: Transaction) {
  await sql`
    insert into public.progress (user_id, sound_id, position_sec, updated_at)
    select customer.id, sound.id, 60, now() - n * interval '1 hour'
    from (select id from loaded_customers order by id <> ${collectorId} limit 100) as customer
      cross join (select id, row_number() over (order by id) as n from public.sounds order by id limit 200) as sound`;
}

/** Loads 100 removals from the history for the collector and 99 other users, older than their positions. */
async function loadClearings(sql: Transaction) {
  await sql`
    insert into private.history_clearings (user_id, sound_id, cleared_at)
    select customer.id, sound.id, now() - interval '20 days'
    from (select id from loaded_customers order by id <> ${collectorId} limit 100) as customer
      cross join (select id from public.sounds order by id desc limit 100) as sound`;
}

/** Loads sections of categories from large to small, and one each of featured and newest sounds. */
async function loadSections(sql: Transaction) {
  await sql`
    insert into public.home_sections (slug, title, sort_order, mode, rule_type, rule_value, rule_include_children, item_limit)
    select 'section-' || n, 'Section ' || n, n, 'rule', rule, case rule when 'category' then 'category-' || n end,
      rule = 'category' and n % 2 = 1, 20
    from generate_series(1, ${sectionCount}::int) as n,
      lateral (select case n when 2 then 'featured' when 4 then 'newest' else 'category' end) as chosen (rule)`;
}

// `npm run bench:load [-- <database url>]`. Default: the database of `npm run dev`.
if (import.meta.main) {
  const port = process.env['SUPABASE_DB_PORT'] || 54322;
  const databaseUrl = process.argv[2] ?? `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
  await load(databaseUrl, largeSize, console.log).catch((error: Error & { code?: string }) => {
    const known: Record<string, string> = {
      '23505':
        'The database was loaded before, or holds rows of the same names. Nothing was written. Start with an empty database: ' +
        'npm run dev -- --fresh',
      ECONNREFUSED: `There is no database at ${new URL(databaseUrl).host}: start npm run dev first.`,
    };
    console.error(known[error.code ?? ''] ?? error);
    process.exitCode = 1;
  });
}
