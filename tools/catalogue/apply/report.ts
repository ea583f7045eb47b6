import { isChanging, type Plan, type Step } from '../plan/plan.ts';
import { titleOf } from '../plan/structure.ts';
import { isTerminal } from '../shared/command.ts';
import { columnNames, columnsOf, isInTrash, trashed } from '../shared/fields.ts';
import { type Line, linesOf, print, showBar } from '../shared/print.ts';
import { nameOf } from '../shared/sound.ts';
import { megabytes, oneOrMany, plural, printable } from '../shared/text.ts';
import type { Outcome } from './outcome.ts';

function describe({ action, write, facts, row, uploads }: Step): string {
  if (action === 'create') return `${write.title} (${write.category ?? 'no category'})`;
  const columns = columnsOf(write).map((column) =>
    column === 'title' ? `"${row?.title}" becomes "${write.title}"` : columnNames[column],
  );
  if (columns.length > 0) return columns.join(', ');
  if (facts) return 'loudness, waveform or placeholder';
  return `${uploads[0]?.bucket === 'audio' ? 'recording' : 'picture'}, missing from Storage`;
}

/** Prints a plan or, with an outcome, what an import has done. */
export function report(plan: Plan, outcome?: Outcome): void {
  const { steps } = plan;
  const changing = steps.filter((step) => isChanging(step) && outcome?.done.has(step) !== false);
  const words = outcome ? ({ create: 'made', update: 'updated' } as const) : planWords;
  const changes = changing.map(
    (step): Line => [words[step.action as keyof typeof planWords], step.file, describe(step)],
  );
  const rejected = [...plan.rejected, ...(outcome?.rejected ?? [])];
  const remarks = [...steps.flatMap(remarksOf), ...linesOfParts(plan, false), ...linesOf('note', plan.notes)];
  if (outcome) console.log();
  print([
    ...(outcome ? changes : [...linesOfParts(plan, true), ...changes, ...moves(plan)]),
    ...remarks,
    ...linesOf('rejected', rejected),
  ]);
  const held = steps.filter(({ isHeld }) => isHeld);
  const isSame = (step: Step) => !isChanging(step) && !isLeftAlone(step) && !step.isHeld;
  const counts = [
    `${changing.filter(({ action }) => action === 'create').length} ${words.create}`,
    `${changing.filter(({ action }) => action === 'update').length} ${outcome ? 'updated' : 'to update'}`,
    `${steps.filter(isSame).length} unchanged`,
    `${steps.filter(isLeftAlone).length} left alone`,
    ...(held.length > 0 ? [`${held.length} held back`] : []),
    `${rejected.length} rejected`,
  ];
  const { files, bytes } = uploadsOf(changing);
  const toUpload = outcome ? '' : `; ${plural(files, 'file')} to upload (${megabytes(bytes)})`;
  console.log(`\n${counts.join(', ')}${toUpload}.`);
  if (outcome?.stopped === undefined) return;
  const isRejected = ({ file }: Step) => rejected.some(({ where }) => where === file);
  const left = steps.filter((step) => isChanging(step) && !outcome.done.has(step) && !isRejected(step));
  console.error(
    `${outcome.stopped}\n${plural(left.length, 'sound')} left to import. Run the import again to continue.`,
  );
}

const planWords = { create: 'new', update: 'update' } as const;
const isLeftAlone = ({ leftAlone }: Step) => leftAlone.length > 0;

function linesOfParts({ parts }: Plan, isChanged: boolean): Line[] {
  const listed = parts.filter((part) => (isChanged ? isChanging(part) : part.action === 'left alone'));
  return listed.map((part) => {
    const reason = part.note ?? (isChanged ? '' : 'the project has another; --overwrite would replace it');
    return [
      planWords[part.action as 'create'] ?? 'left alone',
      part.where,
      reason ? `${titleOf(part)}: ${reason}` : titleOf(part),
    ];
  });
}

/** Lists each sound that moved within the folder, and counts the sounds from other folders. */
function moves({ steps, source }: Plan): Line[] {
  const moved = steps.flatMap(({ file, from }) => (from ? [{ file, from }] : []));
  return [...Map.groupBy(moved, ({ from }) => from.source)].flatMap(([other, sounds]): Line[] => {
    if (other === source) return sounds.map(({ file, from }) => ['moved', file, `was ${nameOf(from)}`]);
    const files = sounds.map(({ file }) => file);
    return [['note', oneOrMany(files, `${files.length} sounds`), `known from "${other}"`]];
  });
}

/** Says why a step leaves a sound or some of its fields alone. */
function reasonOf({ row, leftAlone, neverImported }: Step): string {
  if (!row) return 'deleted in the dashboard; --overwrite would restore it';
  if (isInTrash(row)) return trashed(row);
  const changed = leftAlone.filter((name) => !neverImported.includes(name));
  const reasons = [
    ...(changed.length > 0 ? [`${changed.join(', ')}: changed in the dashboard`] : []),
    ...(neverImported.length > 0 ? [`${neverImported.join(', ')}: not from an import`] : []),
  ];
  return `${reasons.join('; ')}; --overwrite would replace it`;
}

function remarksOf(step: Step): Line[] {
  const { file, row, write, isHeld, leftAlone, notes } = step;
  const change = `"${row?.title}" would become "${write.title}", with another recording; --overwrite replaces it`;
  return [
    ...(isHeld ? [['held back', file, change] satisfies Line] : []),
    ...(leftAlone.length > 0 ? [['left alone', file, reasonOf(step)] satisfies Line] : []),
    ...notes.map((note): Line => ['note', file, note]),
  ];
}

/** Counts the files to upload. Several sounds may share one. */
function uploadsOf(steps: Step[]) {
  const sizes = new Map(steps.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  return { files: sizes.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
}

/** Bytes that the progress bar counts for the row of a sound, because writing rows takes time, too. */
const stepBytes = 20_000;

/** Shows the progress of an import: a bar in a terminal, otherwise a line for each sound that changes. */
export function showProgress(steps: Step[]) {
  const changing = steps.filter(isChanging);
  const count = changing.length;
  const total = uploadsOf(changing).bytes + count * stepBytes;
  let done = 0;
  const bar = showBar(total, '{done} of {count} | {rate} | {eta_formatted} left | {file}', { done, count, file: '' });
  return {
    /** Advances the bar. @param bytes number of bytes sent since the last call */
    sent: (bytes: number) => bar.add(bytes),
    end(step: Step, outcome?: 'rejected') {
      if (!isChanging(step)) return;
      done += 1;
      if (isTerminal) bar.add(stepBytes, { done, file: printable(step.file) });
      else console.log(`${done}/${count}  ${printable(`${step.file}: ${outcome ?? describe(step)}`)}`);
    },
    close: bar.close,
  };
}
