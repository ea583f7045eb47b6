import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { listStored, put } from '@sounds-service/catalogue/storage';
import { connect } from '@sounds-service/catalogue/supabase';
import { walk } from '@sounds-service/catalogue/walk';
import type { Stack } from '@sounds-service/local-supabase/stack';
import type { SupabaseClient } from '@supabase/supabase-js';
import postgres from 'postgres';

const seedFile = 'supabase/seed.sql';

/** Account of every local stack, with premium. */
export const demoAccount = { email: 'demo@example.com', password: 'demo-password' } as const;
/** Account of every local stack, without premium. */
export const freeAccount = { ...demoAccount, email: 'free@example.com' } as const;

/**
 * Fills a new database with the sample catalogue, its files and the demo accounts. Later calls add missing ones.
 * @param empty creates only the demo accounts, also in later calls
 * @throws an Error if `empty` is set and the catalogue has the samples
 */
export async function seed(
  { apiUrl: url, secretKey, databaseUrl }: Stack,
  empty: boolean,
  log: (line: string) => void,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  const { client } = connect({ url, secretKey, remedy: 'Look for its error above.' }, new AbortController().signal);
  try {
    log('Seeding the catalogue');
    if (await seedRows(sql, empty)) await uploadSamples(client);
    else log('The catalogue has no samples. To add them: npm run dev -- --fresh');
    await createDemoUsers(client);
  } finally {
    await sql.end();
  }
}

/** Recorded instead of the samples' hash in a database without samples. */
const emptyMark = 'empty';

/**
 * Runs supabase/seed.sql once per database, and records it like the Supabase CLI.
 * @returns true if the database has the samples
 */
async function seedRows(sql: postgres.Sql, empty: boolean): Promise<boolean> {
  const file = new URL(`../../${seedFile}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  return await sql.begin(async (transaction) => {
    await transaction`
      create table if not exists supabase_migrations.seed_files (path text primary key, hash text not null)`;
    const [done] = await transaction`select hash from supabase_migrations.seed_files where path = ${seedFile}`;
    if (done && empty && done['hash'] !== emptyMark)
      throw new Error('The catalogue has the samples. To forget all data: npm run dev -- --fresh --empty');
    if (done) return done['hash'] !== emptyMark;
    if (!empty) await transaction.unsafe(text);
    const hash = empty ? emptyMark : createHash('sha256').update(text).digest('hex');
    await transaction`insert into supabase_migrations.seed_files (path, hash) values (${seedFile}, ${hash})`;
    return !empty;
  });
}

/** Uploads the files that supabase/config.toml names for the buckets. Existing files stay unchanged. */
async function uploadSamples(client: SupabaseClient): Promise<void> {
  for (const bucket of ['audio', 'covers'] as const) {
    const folder = fileURLToPath(new URL(`../../supabase/samples/${bucket}`, import.meta.url));
    const { recordings, pictures } = await walk(folder, new Map());
    const files = [...recordings, ...pictures].map(([path, file]) => ({ ...file, bucket, path }));
    const stored = await listStored(client, files);
    for (const file of files)
      if (!stored.has(`${bucket}/${file.path}`)) await put(client, file, await readFile(file.source));
  }
}

/** Creates the demo accounts that do not exist. */
export async function createDemoUsers(client: SupabaseClient): Promise<void> {
  const id = await createUser(client, demoAccount, 'Demo');
  if (id) await client.rpc('set_premium', { customer_id: id, premium_until: 'infinity' }).throwOnError();
  await createUser(client, freeAccount, 'Demo without premium');
}

/**
 * Creates an account as an administrator, so that no mail is sent and the address is confirmed.
 * @returns its id, or undefined if it exists already
 */
async function createUser(
  { auth }: SupabaseClient,
  account: typeof demoAccount | typeof freeAccount,
  full_name: string,
) {
  const { data, error } = await auth.admin.createUser({
    ...account,
    email_confirm: true,
    user_metadata: { full_name },
  });
  if (error && error.code !== 'email_exists')
    throw new Error(`The account ${account.email} could not be created: ${error.message}.`);
  return data.user?.id;
}
