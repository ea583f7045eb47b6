import { seedFiles } from './files.ts';

// `npm run seed`: the files of the sample catalogue, for a Supabase that is running already.

const { SUPABASE_URL: supabaseUrl, SUPABASE_SECRET_KEY: secretKey } = process.env;
try {
  if (!supabaseUrl || !secretKey)
    throw new Error('Set SUPABASE_URL and SUPABASE_SECRET_KEY, for example in .env');
  await seedFiles({ supabaseUrl, secretKey, log: console.log });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
