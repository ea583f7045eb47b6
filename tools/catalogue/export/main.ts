import { parseArgs } from 'node:util';
import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { exitWith, folderIn } from '../shared/command.ts';
import { exportCatalogue } from './export-catalogue.ts';

// `npm run export -- <folder>`: writes the catalogue into a folder that an import can read.

const usage = `Usage: npm run export -- <folder>

Writes the recordings, the pictures and everything about the sounds, categories and home sections into
a folder, which npm run import reads. Run again, it downloads only what has changed.`;

await exitWith(usage, async () => {
  const folder = folderIn(parseArgs({ allowPositionals: true }).positionals, usage);
  readEnvFile();
  await exportCatalogue(folder, process.env);
  return true;
});
