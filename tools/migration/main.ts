import { parseArgs } from 'node:util';
import { writeBaseline } from './baseline.ts';
import { checkDatabase, scriptOf } from './check.ts';
import { writeMigration } from './migration.ts';

// npm run migration -- name_of_the_change [--allow-data-loss]
// npm run migration -- --baseline
// npm run migration -- --check <database url>

async function check(databaseUrl: string): Promise<string> {
  const differences = await checkDatabase(databaseUrl);
  if (differences.length === 0) return 'The database is what supabase/schemas declares.';
  console.log(scriptOf(differences));
  throw new Error('The database differs from supabase/schemas. Run the SQL above in the SQL editor.');
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      'allow-data-loss': { type: 'boolean', default: false },
      baseline: { type: 'boolean', default: false },
      check: { type: 'string' },
    },
  });
  const write = () =>
    values.baseline
      ? writeBaseline()
      : writeMigration(positionals.join(' '), { allowDataLoss: values['allow-data-loss'] });
  console.log(values.check === undefined ? await write() : await check(values.check));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
