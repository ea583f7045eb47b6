import { parseArgs } from 'node:util';
import { writeBaseline } from './baseline.ts';
import { writeMigration } from './migration.ts';

// `npm run migration -- name_of_the_change [--allow-data-loss]`, or `npm run migration -- --baseline`

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      'allow-data-loss': { type: 'boolean', default: false },
      baseline: { type: 'boolean', default: false },
    },
  });
  console.log(
    values.baseline
      ? writeBaseline()
      : await writeMigration(positionals.join(' '), { allowDataLoss: values['allow-data-loss'] }),
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
