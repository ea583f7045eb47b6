import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { seedFiles } from '../dev/seed/files.ts';
import { startStack } from '../dev/stack.ts';

// The embedded Supabase with the sample catalogue, in a process of its own; its parent sends the users that it shall
// know, gets to know where it is, and ends it by letting go of it.

type Account = { id: string; email: string };

// A Ctrl-C in the terminal reaches us, too; our parent decides.
process.on('SIGINT', () => {});

async function prepare(users: Account[]) {
  const dataDir = await mkdtemp(join(tmpdir(), 'sounds-service-bench-'));
  const stack = await startStack({ dataDir, apiPort: 0, databasePort: 0, durable: false });
  const end = async () => {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
    process.exit();
  };
  process.once('disconnect', end);
  if (!process.connected) await end();
  const sql = postgres(stack.databaseUrl, { max: 1, onnotice() {} });
  await sql.unsafe(readFileSync(new URL('../supabase/seed.sql', import.meta.url), 'utf8'));
  await sql`
    insert into auth.users (id, email, aud, role)
    select id, email, 'authenticated', 'authenticated'
    from jsonb_to_recordset(${sql.json(users)}) as account (id uuid, email text)`;
  await seedFiles({ supabaseUrl: stack.apiUrl, secretKey: stack.secretKey, log: () => {} });
  const [sound] = await sql`
    select id, audio_path, cover_image_path from public.sounds
    where is_active and audio_path is not null and cover_image_path is not null limit 1`;
  // Everybody likes something.
  await sql`
    insert into public.favorites (user_id, sound_id)
    select customer.id, sound.id from public.customers as customer cross join (select id from public.sounds limit 10) as sound`;
  await sql.end();
  process.send?.({ apiUrl: stack.apiUrl, sound });
}

process.once('message', (users: Account[]) => void prepare(users));
