import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { measureStored } from './facts.ts';
import { importFolder } from './import-folder.ts';
import { template } from './read/sheet.ts';
import { readArguments, usage } from './shared/arguments.ts';
import { exitWith } from './shared/command.ts';

// `npm run import -- <folder>`: fills the catalogue from a folder of recordings.

await exitWith(usage, async () => {
  const settings = readArguments(process.argv.slice(2));
  if (settings === 'template') {
    process.stdout.write(template);
    return true;
  }
  readEnvFile();
  return settings === 'facts' ? await measureStored(process.env) : await importFolder(settings, process.env);
});
