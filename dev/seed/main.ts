import { seedFiles } from './files.ts';

const { SUPABASE_URL: supabaseUrl, SUPABASE_SECRET_KEY: secretKey } = process.env;
if (!supabaseUrl || !secretKey) {
  console.error('Set SUPABASE_URL and SUPABASE_SECRET_KEY, for example in .env');
  process.exitCode = 1;
} else {
  await seedFiles({ supabaseUrl, secretKey, log: console.log });
}
