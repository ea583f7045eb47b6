import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { readArguments, USAGE } from './arguments.ts';
import { measureStored } from './facts.ts';
import { importFolder } from './import-folder.ts';
import { TEMPLATE } from './read/sheet.ts';
import { exitWith } from './shared/command.ts';

// `npm run import -- <folder>`: fills the catalogue from a folder of recordings.

await exitWith(async () => {
  const settings = readArguments(process.argv.slice(2));
  if (settings === 'help') console.log(USAGE);
  else if (settings === 'template') process.stdout.write(TEMPLATE);
  else {
    readEnvFile();
    return settings === 'facts' ? await measureStored(process.env) : await importFolder(settings, process.env);
  }
  return true;
});
