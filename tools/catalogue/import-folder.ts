import { carryOut } from './apply/carry-out.ts';
import type { Outcome } from './apply/outcome.ts';
import { report } from './apply/report.ts';
import { writeParts } from './apply/write-parts.ts';
import { assignCategories } from './identify/categories.ts';
import { avoidTakenNames, identify, keepStoredNames, notesAbout } from './identify/identify.ts';
import { isChanging, type Plan, plan, type Step } from './plan/plan.ts';
import { planCategories, planSections, type Trash } from './plan/structure.ts';
import { validate } from './plan/validate.ts';
import {
  begin,
  type Catalogue,
  finish,
  type Memory,
  readCatalogue,
  readSections,
  recall,
} from './project/catalogue.ts';
import { listStored } from './project/storage.ts';
import { type Connection, connect, projectOf } from './project/supabase.ts';
import { type Folder, openFolder } from './read/folder.ts';
import { gather } from './read/gather.ts';
import { readSheet, soundFile } from './read/sheet.ts';
import { commonExtensions } from './read/walk.ts';
import type { Settings } from './shared/arguments.ts';
import { abortAtSignals, ask, isTerminal } from './shared/command.ts';
import { isInTrash } from './shared/fields.ts';
import { linesOf, print } from './shared/print.ts';
import { ImportError, type Problem } from './shared/problems.ts';
import { printable } from './shared/text.ts';

/**
 * Makes the catalogue match a folder.
 * @param env environment variables that name the project
 * @returns true if the catalogue now matches the whole folder or, in a dry run, would match it
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
  if (planned.steps.length + planned.rejected.length + planned.parts.length === 0) {
    const kinds = `${commonExtensions} and other audio files`;
    console.log(`No recordings were found in ${printable(folder)}: the import looks for ${kinds}.`);
    print(linesOf('note', planned.notes));
    return true;
  }
  console.log(`From ${printable(folder)} into ${project.url}:\n`);
  report(planned);
  const isClean = planned.rejected.length === 0 && !planned.steps.some(({ isHeld }) => isHeld);
  if (!(await isConfirmed(settings, planned))) return isClean;
  const ignoreSignals = abortAtSignals(interruption);
  const remembered = { ...memory, sheet: contents.sounds !== undefined };
  const outcome = await apply(planned, connection, remembered).finally(ignoreSignals);
  const isDone = outcome.rejected.length === 0 && outcome.stopped === undefined;
  if (planned.steps.some(isChanging) || !isDone) report(planned, outcome);
  return isClean && isDone;
}

async function makePlan(
  { found, sounds: csv, categories: categoryCsv, sections: sectionCsv, notes }: Folder,
  memory: Memory,
  settings: Settings,
  connection: Connection,
): Promise<Plan> {
  const { folder, source, overwrite } = settings;
  if (!csv && memory.sheet)
    throw new ImportError(
      `${folder} has no ${soundFile}, and the last import of "${source}" had one. Put it back, or add one with the header "file" alone to keep the values of the old one.`,
    );
  const { client } = connection;
  const catalogue = await readCatalogue(client, settings['dry-run']);
  const rejected: Problem[] = [];
  const { parts, categories } = planCategories(categoryCsv, catalogue.categories, overwrite, rejected);

  const sheet = csv ? readSheet(csv) : { rows: [], rejected: [] };
  const gathered = await gather(found, sheet, categories, catalogue);
  rejected.push(...gathered.rejected);
  const identity = identify(gathered.sounds, source, catalogue, found);
  const sounds = gathered.sounds.filter((sound) => !identity.copies.has(sound));
  const make = settings['make-categories'];
  const assigned = assignCategories(sounds, { source, categories, known: identity.known, make });
  keepStoredNames(identity, catalogue);
  const files = sounds.flatMap(({ audio, picture }) => [audio, picture]).filter((file) => file !== undefined);
  const stored = await listStored(client, files);
  await avoidTakenNames(client, sounds, stored, identity, catalogue);

  const all = plan(sounds, identity, { ...catalogue, categories }, stored, settings);
  const { steps, problems } = await validate(client, all);
  if (sectionCsv) {
    const stored = await readSections(client, catalogue.sounds);
    parts.push(...planSections(sectionCsv, stored, trashOf(catalogue, steps), overwrite, rejected));
  }
  const made = assigned.made.map((category) => ({ where: category.slug, action: 'create' as const, category }));
  return {
    source,
    steps,
    parts: [...parts, ...made],
    notes: [...notes, ...gathered.notes, ...assigned.notes, ...notesAbout(identity, catalogue)],
    rejected: [...rejected, ...problems],
  };
}

function trashOf({ categories, sounds }: Catalogue, steps: Step[]): Trash {
  const deleted = [...sounds.values()].filter(isInTrash).map((row) => [row.id, row] as const);
  const keyed = steps.flatMap(({ key, row }) => (row && isInTrash(row) ? [[key, row] as const] : []));
  return {
    categories: new Map(categories.filter(isInTrash).map((category) => [category.slug, category])),
    sounds: new Map([...deleted, ...keyed]),
  };
}

/** Asks for confirmation of a plan that changes something. */
async function isConfirmed(settings: Settings, { steps, parts }: Plan): Promise<boolean> {
  if (settings['dry-run']) return false;
  if (settings.yes || ![...steps, ...parts].some(isChanging)) return true;
  if (!isTerminal)
    throw new ImportError(
      'There is no terminal to confirm in. Add --yes to import, or --dry-run to see the plan only.',
    );
  const answer = await ask('Import? (yes/no) ');
  if (/^y(es)?$/i.test(answer.trim())) return true;
  console.log('Nothing was imported.');
  return false;
}

/** Writes categories, then sounds, then home sections, because sounds name categories and sections name sounds. */
async function apply({ steps, parts }: Plan, connection: Connection, memory: Memory): Promise<Outcome> {
  const { client } = connection;
  const started = await begin(client, memory);
  const rejected = await writeParts(
    client,
    parts.filter((part) => 'category' in part),
    new Map(),
  );
  const outcome = await carryOut(connection, steps, started);
  outcome.rejected.unshift(...rejected);
  if (outcome.stopped !== undefined) return outcome;
  const ids = new Map(steps.map(({ id, key }) => [key, id]));
  outcome.rejected.push(
    ...(await writeParts(
      client,
      parts.filter((part) => 'section' in part),
      ids,
    )),
  );
  await finish(client, memory);
  return outcome;
}
