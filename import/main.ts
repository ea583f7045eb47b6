import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { readEnvFile } from '../dev/settings.ts';
import { carryOut } from './carry-out.ts';
import { readCatalogue } from './catalogue.ts';
import { assignCategories } from './categories.ts';
import { gather } from './gather.ts';
import { plan, type Step } from './plan.ts';
import { ImportError } from './problems.ts';
import { showProgress, showReading } from './progress.ts';
import { printOutcome, printPlan } from './report.ts';
import { TEMPLATE } from './sheet.ts';
import { storedFiles } from './storage.ts';
import { connect, projectOf } from './supabase.ts';
import { COMMON_EXTENSIONS } from './walk.ts';

// `npm run import -- <folder>`: fills the catalogue from a folder of recordings.

const USAGE = `Usage: npm run import -- <folder> [--dry-run | --yes] [--hidden] [--overwrite]
       npm run -s import -- --template > <folder>/sounds.csv

Uploads the recordings and pictures in a folder, and creates or updates their sounds.
  --dry-run    only shows what would be done
  --yes        does not ask for confirmation
  --hidden     creates new sounds as inactive
  --overwrite  discards changes made in the dashboard since the last import
  --template   prints a sounds.csv with all columns and an example`;

const isTerminal = process.stdin.isTTY && process.stdout.isTTY;

interface Settings {
  folder: string;
  dryRun: boolean;
  yes: boolean;
  hidden: boolean;
  overwrite: boolean;
}

/** @throws ImportError with the usage */
function readArguments(): Settings | 'template' | 'help' {
  const flag = { type: 'boolean', default: false } as const;
  const options = { 'dry-run': flag, yes: flag, hidden: flag, overwrite: flag, template: flag, help: flag };
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (values.help) return 'help';
    if (values.template) return 'template';
    const [folder, ...more] = positionals;
    if (folder === undefined || more.length > 0) throw new Error('Specify one folder.');
    const { yes, hidden, overwrite } = values;
    return { folder, dryRun: values['dry-run'], yes, hidden, overwrite };
  } catch (error) {
    throw new ImportError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Asks at the terminal. Ctrl-C there ends everything: nothing has been done yet. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new AbortController();
  terminal.once('SIGINT', () => process.exit(130)).once('close', () => closed.abort());
  return await terminal
    .question(question, closed)
    .catch(() => '')
    .finally(() => terminal.close());
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new ImportError(`There is no folder ${folder}. Correct its path.`);
}

/** Whether to go on with a plan that changes something. */
async function isWanted({ yes, dryRun }: Settings, steps: Step[]): Promise<boolean> {
  if (dryRun) return false;
  if (yes || steps.every(({ action }) => action === 'unchanged')) return true;
  if (!isTerminal)
    throw new ImportError(
      'There is no terminal to confirm in. Add --yes to import, or --dry-run to see the plan only.',
    );
  const answer = await ask('Import? [y/N] ');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  console.log('Nothing was imported.');
  return false;
}

/** @returns whether all of the folder is in the catalogue now, or would be */
async function importFolder(settings: Settings): Promise<boolean> {
  const { folder } = settings;
  await requireFolder(folder);
  readEnvFile();
  const project = projectOf(process.env);
  const interruption = new AbortController();
  // Whoever waits for the first answer wants to know at once.
  const catalogue = await readCatalogue(connect(project, interruption.signal, 0).client);
  const connection = connect(project, interruption.signal);
  const { sounds, refused } = await gather(folder, catalogue, showReading(isTerminal));
  if (sounds.length + refused.length === 0) {
    console.log(
      `No recordings were found in ${folder}: the import looks for ${COMMON_EXTENSIONS} and other audio files.`,
    );
    return true;
  }
  const isNew = ({ file }: { file: string }) => !catalogue.imported.has(file);
  const mayAsk = isTerminal && !settings.yes && !settings.dryRun;
  await assignCategories(sounds, catalogue.categories, isNew, mayAsk ? ask : undefined);
  const files = sounds.flatMap(({ audio, picture }) => [audio, ...(picture ? [picture] : [])]);
  const steps = plan(sounds, catalogue, await storedFiles(connection.client, files), settings);

  console.log(`From ${folder} into ${project.url}:\n`);
  printPlan(steps, refused);
  if (!(await isWanted(settings, steps))) return refused.length === 0;

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interruption.abort());
  const open = steps.filter(({ action, remember }) => action !== 'unchanged' || remember);
  if (open.length === 0) return refused.length === 0;
  const progress = showProgress(open, isTerminal);
  const outcome = await carryOut(connection, open, progress).finally(progress.close);
  printOutcome(steps, outcome, refused);
  return outcome.stopped === undefined && outcome.refused.length + refused.length === 0;
}

async function main(): Promise<boolean> {
  const settings = readArguments();
  if (settings === 'help') console.log(USAGE);
  else if (settings === 'template') process.stdout.write(TEMPLATE);
  else return await importFolder(settings);
  return true;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof ImportError ? error.message : error);
  process.exitCode = 1;
}
