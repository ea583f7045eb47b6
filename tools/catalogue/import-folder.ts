import { carryOut, isChanging, type Outcome } from './carry-out.ts';
import { type Catalogue, readCatalogue } from './catalogue.ts';
import { assignCategories } from './categories.ts';
import { abortAtSignals, ask, isTerminal } from './command.ts';
import { COLUMNS, columnsOf, pick } from './fields.ts';
import { type Folder, openFolder } from './folder.ts';
import { gather } from './gather.ts';
import { type Identity, identify } from './identify.ts';
import { begin, finish, type Memory, recall } from './memory.ts';
import { type Options, plan, type Step } from './plan.ts';
import { ImportError, type Problem } from './problems.ts';
import { showProgress, showReading } from './progress.ts';
import { type Plan, printOutcome, printPlan } from './report.ts';
import { readSheet, SHEET } from './sheet.ts';
import { nameOf } from './sound.ts';
import { listStored } from './storage.ts';
import { avoidTakenNames, keepStoredNames } from './stored-names.ts';
import { carryOutParts, partOf, planCategories, planSections } from './structure.ts';
import { type Connection, connect, projectOf } from './supabase.ts';
import { COMMON_EXTENSIONS } from './walk.ts';
import { refusedRows } from './write.ts';

export interface Settings extends Options {
  folder: string;
  dryRun: boolean;
  yes: boolean;
  makeCategories: boolean;
}

/**
 * Makes the catalogue as a folder says.
 * @param env names the project
 * @returns whether all of the folder is in the catalogue now, or would be
 * @throws ImportError
 */
export async function importFolder(settings: Settings, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { folder } = settings;
  const contents = await openFolder(folder);
  const project = projectOf(env);
  const interruption = new AbortController();
  // Whoever waits for the first answer wants to know at once.
  const impatient = connect(project, interruption.signal, 0);
  const connection = connect(project, interruption.signal);
  const memory = await recall(impatient.client, settings.source);
  const planned = await makePlan(contents, memory, settings, connection);
  if (!planned) return true;

  console.log(`From ${folder} into ${project.url}:\n`);
  printPlan(planned);
  const isClean = planned.rejected.length === 0 && !planned.steps.some(({ isHeld }) => isHeld);
  if (!(await isWanted(settings, planned))) return isClean;
  const ignoreSignals = abortAtSignals(interruption);
  const remembered = { ...memory, sheet: contents.sounds !== undefined };
  const outcome = await carryOutPlan(planned, connection, remembered).finally(ignoreSignals);
  if (planned.steps.some(isChanging) || outcome.rejected.length > 0 || outcome.stopped !== undefined)
    printOutcome(planned, outcome);
  return isClean && outcome.stopped === undefined && outcome.rejected.length === 0;
}

/** @returns undefined for a folder without recordings */
async function makePlan(
  { found, sounds: csv, categories, sections, notes }: Folder,
  memory: Memory,
  settings: Settings,
  connection: Connection,
): Promise<Plan | undefined> {
  const { folder, source, overwrite } = settings;
  if (!csv && memory.sheet)
    throw new ImportError(
      `${folder} has no ${SHEET}, and the last import of "${source}" had one. Put it back; or, to go on without, one with the header "file" alone: what the old one said stays.`,
    );
  const sheet = csv ? readSheet(csv) : { rows: [], rejected: [], unusable: new Set<string>() };
  const { client } = connection;
  const catalogue = await readCatalogue(client);
  const rejected: Problem[] = [];
  const structure = planCategories(categories, catalogue.categories, overwrite, rejected);
  const sectionParts = await planSections(sections, client, overwrite, rejected);
  const gathered = await gather(
    found,
    sheet,
    structure.categories,
    catalogue.limits,
    showReading(isTerminal),
  );
  rejected.push(...gathered.rejected);
  if (gathered.sounds.length + rejected.length + structure.parts.length + sectionParts.length === 0) {
    console.log(
      `No recordings were found in ${folder}: the import looks for ${COMMON_EXTENSIONS} and other audio files.`,
    );
    return undefined;
  }
  const identity = identify(gathered.sounds, source, catalogue, (file) => found.recordings.has(file));
  const sounds = gathered.sounds.filter((sound) => !identity.copies.has(sound));
  const mayAsk = isTerminal && !settings.yes && !settings.dryRun;
  const assigned = await assignCategories(sounds, {
    source,
    categories: structure.categories,
    known: identity.known,
    answers: memory.answers,
    ask: mayAsk ? ask : undefined,
    make: settings.makeCategories,
  });
  keepStoredNames(identity, catalogue);
  const files = sounds.flatMap(({ audio, picture }) => [audio, picture]).filter((file) => file !== undefined);
  const stored = await listStored(client, files);
  await avoidTakenNames(connection, sounds, stored, identity.known);
  const all = plan(sounds, identity, { ...catalogue, categories: structure.categories }, stored, settings);
  const { steps, problems } = await withoutRefused(all, connection);
  return {
    source,
    steps,
    parts: [...structure.parts, ...assigned.made.map(partOf), ...sectionParts],
    notes: [...notes, ...gathered.notes, ...assigned.notes, ...notesAbout(identity, catalogue)],
    rejected: [...rejected, ...problems],
  };
}

/** What is not imported because it is there already, and what is in the catalogue and no longer in the folder. */
function notesAbout({ copies, gone }: Identity, { sounds }: Catalogue): Problem[] {
  return [
    ...[...copies].map(([copy, original]) => ({
      where: nameOf(copy),
      reason: `A copy of ${nameOf(original)}: not imported.`,
    })),
    ...gone.flatMap(({ id, place: { file, key = '' } }) => {
      const title = sounds.get(id)?.title;
      const reason = `Gone from the folder. Its sound "${title}" is left alone.`;
      return title ? [{ where: nameOf({ file, key }), reason }] : [];
    }),
  ];
}

/** Takes out of a plan what the database would reject. */
async function withoutRefused(
  steps: Step[],
  { client }: Connection,
): Promise<{ steps: Step[]; problems: Problem[] }> {
  const writing = steps.filter(({ action }) => action !== 'unchanged');
  const rows = writing.map(({ row, write, createdAt }) => ({
    ...(row && pick(row, columnsOf(COLUMNS))),
    ...write,
    ...(createdAt && { created_at: createdAt }),
  }));
  const reasons = await refusedRows(client, rows);
  const problems = [...reasons].map(([index, reason]) => ({ where: writing[index]?.file ?? '', reason }));
  const rejected = new Set([...reasons.keys()].map((index) => writing[index]));
  return { steps: steps.filter((step) => !rejected.has(step)), problems };
}

/** Whether to go on with a plan that changes something. */
async function isWanted({ yes, dryRun }: Settings, { steps, parts }: Plan): Promise<boolean> {
  if (dryRun) return false;
  if (yes || [...steps, ...parts].every(({ action }) => action !== 'create' && action !== 'update'))
    return true;
  if (!isTerminal)
    throw new ImportError(
      'There is no terminal to confirm in. Add --yes to import, or --dry-run to see the plan only.',
    );
  const answer = await ask('Import? [y/N] ');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  console.log('Nothing was imported.');
  return false;
}

/** Categories first, which sounds name; then the sounds, which sections name. */
async function carryOutPlan(
  { steps, parts }: Plan,
  connection: Connection,
  memory: Memory,
): Promise<Outcome> {
  const { client } = connection;
  const started = await begin(client, memory);
  const [categories, sections] = [parts.filter((part) => !part.isLate), parts.filter((part) => part.isLate)];
  const before = await carryOutParts(client, categories, () => undefined);
  const progress = showProgress(steps.filter(isChanging), isTerminal);
  const outcome = await carryOut(connection, steps, started, progress).finally(progress.close);
  if (outcome.stopped !== undefined) return { ...outcome, rejected: [...before, ...outcome.rejected] };
  const ids = new Map(steps.map(({ id, key }) => [key, id]));
  const after = await carryOutParts(client, sections, (key) => ids.get(key) ?? key);
  await finish(client, memory);
  return { ...outcome, rejected: [...before, ...outcome.rejected, ...after] };
}
