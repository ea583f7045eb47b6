import { carryOut, type Outcome } from './apply/carry-out.ts';
import { printOutcome } from './apply/print-outcome.ts';
import { showProgress } from './apply/progress.ts';
import { writeParts } from './apply/write-parts.ts';
import { assignCategories } from './identify/categories.ts';
import { identify, notesAbout } from './identify/identify.ts';
import { avoidTakenNames, keepStoredNames } from './identify/stored-names.ts';
import { isChanging, type Options, plan } from './plan/plan.ts';
import { type Line, type Plan, print, printPlan } from './plan/print-plan.ts';
import { planCategories, planSections } from './plan/structure.ts';
import { validate } from './plan/validate.ts';
import { readCatalogue } from './project/catalogue.ts';
import { begin, finish, type Memory, recall } from './project/memory.ts';
import { readSections } from './project/sections.ts';
import { listStored } from './project/storage.ts';
import { type Connection, connect, projectOf } from './project/supabase.ts';
import { type Folder, openFolder } from './read/folder.ts';
import { gather } from './read/gather.ts';
import { readSheet, SHEET } from './read/sheet.ts';
import { COMMON_EXTENSIONS } from './read/walk.ts';
import { abortAtSignals, ask, isTerminal } from './shared/command.ts';
import { ImportError, type Problem } from './shared/problems.ts';
import { printable } from './shared/text.ts';

export interface Settings extends Options {
  folder: string;
  dryRun: boolean;
  yes: boolean;
  makeCategories: boolean;
}

/**
 * Makes the catalogue match a folder.
 * @param env environment variables that name the project
 * @returns true if the catalogue now matches the whole folder or, with `dryRun`, would match it
 * @throws ImportError
 */
export async function importFolder(settings: Settings, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { folder } = settings;
  const contents = await openFolder(folder);
  const project = projectOf(env);
  const interruption = new AbortController();
  // Send the first request without retries, so that a wrong URL is reported at once.
  const memory = await recall(connect(project, interruption.signal, 0).client, settings.source);
  const connection = connect(project, interruption.signal);
  const planned = await makePlan(contents, memory, settings, connection);
  if (!planned) return true;

  console.log(`From ${printable(folder)} into ${project.url}:\n`);
  printPlan(planned);
  const isClean = planned.rejected.length === 0 && !planned.steps.some(({ isHeld }) => isHeld);
  if (!(await isConfirmed(settings, planned))) return isClean;
  const ignoreSignals = abortAtSignals(interruption);
  const remembered = { ...memory, sheet: contents.sounds !== undefined };
  const outcome = await apply(planned, connection, remembered).finally(ignoreSignals);
  if (planned.steps.some(isChanging) || outcome.rejected.length > 0 || outcome.stopped !== undefined)
    printOutcome(planned, outcome);
  return isClean && outcome.stopped === undefined && outcome.rejected.length === 0;
}

/** @returns undefined for a folder without recordings */
async function makePlan(
  { found, sounds: csv, categories: categoryCsv, sections: sectionCsv, notes }: Folder,
  memory: Memory,
  settings: Settings,
  connection: Connection,
): Promise<Plan | undefined> {
  const { folder, source, overwrite } = settings;
  if (!csv && memory.sheet)
    throw new ImportError(
      `${folder} has no ${SHEET}, and the last import of "${source}" had one. Put it back, or add one with the header "file" alone to keep the values of the old one.`,
    );
  const { client } = connection;
  const catalogue = await readCatalogue(client);
  const rejected: Problem[] = [];
  const { parts, categories } = planCategories(categoryCsv, catalogue.categories, overwrite, rejected);
  if (sectionCsv) parts.push(...planSections(sectionCsv, await readSections(client), overwrite, rejected));

  const sheet = csv ? readSheet(csv) : { rows: [], rejected: [] };
  if (settings.dryRun) catalogue.measurements.store = undefined;
  const gathered = await gather(found, sheet, categories, catalogue);
  rejected.push(...gathered.rejected);
  if (gathered.sounds.length + rejected.length + parts.length === 0) {
    console.log(
      `No recordings were found in ${printable(folder)}: the import looks for ${COMMON_EXTENSIONS} and other audio files.`,
    );
    print(notes.map(({ where, reason }): Line => ['note', where, reason]));
    return undefined;
  }
  const identity = identify(gathered.sounds, source, catalogue, (file) => found.recordings.has(file));
  const sounds = gathered.sounds.filter((sound) => !identity.copies.has(sound));
  const mayAsk = isTerminal && !settings.yes && !settings.dryRun;
  const assigned = await assignCategories(sounds, {
    source,
    categories,
    known: identity.known,
    answers: memory.answers,
    ask: mayAsk ? ask : undefined,
    make: settings.makeCategories,
  });
  keepStoredNames(identity, catalogue);
  const files = sounds.flatMap(({ audio, picture }) => [audio, picture]).filter((file) => file !== undefined);
  const stored = await listStored(client, files);
  await avoidTakenNames(client, sounds, stored, identity, catalogue);

  const all = plan(sounds, identity, { ...catalogue, categories }, stored, settings);
  const { steps, problems } = await validate(client, all);
  const made = assigned.made.map((category) => ({ where: category.slug, action: 'create' as const, category }));
  return {
    source,
    steps,
    parts: [...parts, ...made],
    notes: [...notes, ...gathered.notes, ...assigned.notes, ...notesAbout(identity, catalogue)],
    rejected: [...rejected, ...problems],
  };
}

/** Asks for confirmation of a plan that changes something. */
async function isConfirmed({ yes, dryRun }: Settings, { steps, parts }: Plan): Promise<boolean> {
  if (dryRun) return false;
  if (yes || [...steps, ...parts].every(({ action }) => action !== 'create' && action !== 'update')) return true;
  if (!isTerminal)
    throw new ImportError(
      'There is no terminal to confirm in. Add --yes to import, or --dry-run to see the plan only.',
    );
  const answer = await ask('Import? [y/N] ');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  console.log('Nothing was imported.');
  return false;
}

/** Writes categories, then sounds, then home sections, because sounds name categories and sections name sounds. */
async function apply({ steps, parts }: Plan, connection: Connection, memory: Memory): Promise<Outcome> {
  const { client } = connection;
  const started = await begin(client, memory);
  const isCategory = (part: Plan['parts'][number]) => 'category' in part;
  const before = await writeParts(client, parts.filter(isCategory), () => undefined);
  const progress = showProgress(steps.filter(isChanging));
  const outcome = await carryOut(connection, steps, started, progress).finally(progress.close);
  if (outcome.stopped !== undefined) return { ...outcome, rejected: [...before, ...outcome.rejected] };
  const ids = new Map(steps.map(({ id, key }) => [key, id]));
  const sections = parts.filter((part) => !isCategory(part));
  const after = await writeParts(client, sections, (key) => ids.get(key) ?? key);
  await finish(client, memory);
  return { ...outcome, rejected: [...before, ...outcome.rejected, ...after] };
}
