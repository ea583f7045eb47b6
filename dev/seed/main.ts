import { readEnvFile } from '../settings.ts';
import { seedFiles } from './files.ts';

// `npm run seed`: the files of the sample catalogue, for a Supabase that is running already.

try {
  readEnvFile();
  const { SUPABASE_URL: supabaseUrl, SUPABASE_SECRET_KEY: secretKey } = process.env;
  if (!supabaseUrl || !secretKey) {
    throw new Error(
      'Set SUPABASE_URL and SUPABASE_SECRET_KEY of the project to fill, for example in .env (.env.example holds those ' +
        'of the local one). npm run dev does not need this: it fills its own.',
    );
  }
  if (!(await fetch(supabaseUrl).catch(() => undefined))) {
    throw new Error(
      `Nothing answers at SUPABASE_URL, ${supabaseUrl}. Start that Supabase or correct the address.`,
    );
  }
  await seedFiles({ supabaseUrl, secretKey, log: console.log });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
