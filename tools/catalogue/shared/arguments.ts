import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { folderIn } from './command.ts';
import { ImportError } from './problems.ts';

export const usage = `Usage: npm run import -- <folder> [--dry-run | --yes] [--hidden] [--overwrite]
                                  [--make-categories] [--source <name>]
       npm run import -- --facts
       npm run -s import -- --template > <folder>/sounds.csv

Uploads the recordings and pictures in a folder, and creates or updates their sounds.
  --dry-run          shows the plan and changes nothing
  --yes              imports without asking for confirmation
  --hidden           creates new sounds as inactive
  --overwrite        replaces changes made in the dashboard since the last import, values that no import
                     wrote, and sounds whose recording and title have both changed
  --make-categories  makes a category for each folder that has none, and sub-intentions for folders below
  --source <name>    name of the folder in the records of imports, instead of its own
  --facts            measures the files in Storage of sounds that have no loudness, waveform or placeholder, or
                     that an older release measured in another way
  --template         prints a sounds.csv with all columns and an example`;

const flag = { type: 'boolean', default: false } as const;
const options = {
  'dry-run': flag,
  yes: flag,
  hidden: flag,
  overwrite: flag,
  'make-categories': flag,
  source: { type: 'string' },
  facts: flag,
  template: flag,
} as const;

export type Settings = Exclude<ReturnType<typeof readArguments>, string>;

/**
 * Reads the command line of `npm run import`.
 * @throws ImportError, and errors of parseArgs
 */
export function readArguments(args: string[]) {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: options });
  if (values.facts && positionals.length === 0) return 'facts';
  if (values.template) return 'template';
  const folder = folderIn(positionals, usage);
  const source = (values.source ?? basename(resolve(folder))).normalize('NFC').trim();
  if (source === '') throw new ImportError('Name the folder with --source.');
  return { ...values, folder, source };
}
