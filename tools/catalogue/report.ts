import { styleText } from 'node:util';
import type { Outcome } from './carry-out.ts';
import type { Place } from './catalogue.ts';
import { COLUMNS, columnsOf } from './fields.ts';
import { megabytes } from './megabytes.ts';
import type { Step } from './plan.ts';
import type { Problem } from './problems.ts';
import { nameOf } from './sound.ts';
import type { Part } from './structure.ts';

type Kind =
  | 'new'
  | 'update'
  | 'made'
  | 'updated'
  | 'moved'
  | 'held back'
  | 'left alone'
  | 'note'
  | 'rejected';
type Line = [kind: Kind, where: string, text: string];

const COLOURS = {
  new: 'green',
  update: 'cyan',
  made: 'green',
  updated: 'cyan',
  moved: 'cyan',
  'held back': 'red',
  'left alone': 'yellow',
  note: 'yellow',
  rejected: 'red',
} as const;

/** Longer names push their text to the right. */
const WIDEST = 44;

function print(lines: Line[]): void {
  const width = Math.min(WIDEST, Math.max(...lines.map(([, where]) => [...where].length)));
  for (const [kind, where, text] of lines) {
    const padding = ' '.repeat(Math.max(0, width - [...where].length));
    console.log(`${styleText(COLOURS[kind], kind.padEnd(10))}  ${where}${padding}  ${text}`.trimEnd());
  }
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** All that an import does, and what stands in its way. */
export interface Plan {
  source: string;
  steps: Step[];
  parts: Part[];
  notes: Problem[];
  rejected: Problem[];
}

/** What a step did, or would do, to its sound. */
export function describe({ action, write, row, uploads }: Step): string {
  if (action !== 'update') return action === 'create' ? 'made' : 'unchanged';
  const columns = columnsOf(write).map((column) =>
    column === 'title' ? `"${row?.title}" becomes "${write.title}"` : COLUMNS[column],
  );
  return columns.length > 0
    ? columns.join(', ')
    : `${uploads[0]?.bucket === 'audio' ? 'recording' : 'picture'}, missing from Storage`;
}

const isLeftAlone = ({ leftAlone }: Step) => leftAlone.length > 0;
const isHeld = ({ isHeld }: Step) => isHeld;

/** Of the sounds that are not written, and of those that are written but for what the dashboard has changed. */
function countOfRest(steps: Step[]): string {
  const isSame = (step: Step) => step.action === 'unchanged' && !isLeftAlone(step) && !isHeld(step);
  const held = steps.filter(isHeld).length;
  const counts = `${steps.filter(isSame).length} unchanged, ${steps.filter(isLeftAlone).length} left alone`;
  return held > 0 ? `${counts}, ${held} held back` : counts;
}

/** What moved in the folder, sound by sound; what is known from another folder is too much for that. */
function moves({ steps, source }: Plan): Line[] {
  const nameIn = ({ file, key = '' }: Place) => nameOf({ file, key });
  const moved = steps.filter(({ from }) => from && (from.source ?? source) === source);
  const elsewhere = Map.groupBy(
    steps.filter((step) => step.from && !moved.includes(step)),
    ({ from }) => from?.source,
  );
  return [
    ...moved.map(({ file, from }): Line => ['moved', file, `was ${nameIn(from ?? {})}`]),
    ...[...elsewhere].flatMap(([other, steps]): Line[] => [
      [
        'note',
        steps.length === 1 ? (steps[0]?.file ?? '') : plural(steps.length, 'sound'),
        `known from "${other}"`,
      ],
    ]),
  ];
}

/** What is the same in the plan and the outcome. */
function remarks({ steps, parts, notes }: Plan, rejected: Problem[]): Line[] {
  return [
    ...steps.filter(isHeld).map(({ file, row, write }): Line => {
      const what = `"${row?.title}" would become "${write.title}", with another recording`;
      return ['held back', file, `${what}; --overwrite replaces it`];
    }),
    ...steps.filter(isLeftAlone).map(({ file, row, leftAlone }): Line => {
      const what = row
        ? `${leftAlone.join(', ')}: changed in the dashboard; --overwrite would replace it`
        : 'deleted in the dashboard; --overwrite would restore it';
      return ['left alone', file, what];
    }),
    ...parts
      .filter(({ action }) => action === 'left alone')
      .map(
        ({ where, title }): Line => [
          'left alone',
          where,
          `${title}: the project has another; --overwrite would replace it`,
        ],
      ),
    ...steps.flatMap(({ file, notes }) => notes.map((note): Line => ['note', file, note])),
    ...notes.map(({ where, reason }): Line => ['note', where, reason]),
    ...rejected.map(({ where, reason }): Line => ['rejected', where, reason]),
  ];
}

/** Shows what an import would do. */
export function printPlan(plan: Plan): void {
  const { steps, parts, rejected } = plan;
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const planned = changing.map(
    (step): Line => [
      step.action === 'create' ? 'new' : 'update',
      step.file,
      step.action === 'create'
        ? `${step.write.title} (${step.write.category ?? 'no category'})`
        : describe(step),
    ],
  );
  const kinds = { create: 'new', update: 'update' } as const;
  const structure = parts.flatMap(({ action, where, title }): Line[] =>
    action in kinds ? [[kinds[action as keyof typeof kinds], where, title]] : [],
  );
  print([...structure, ...planned, ...moves(plan), ...remarks(plan, rejected)]);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const bytes = new Map(changing.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  const toUpload = [...bytes.values()].reduce((sum, size) => sum + size, 0);
  console.log(
    `\n${count('create')} new, ${count('update')} to update, ${countOfRest(steps)}, ${rejected.length} rejected; ` +
      `${plural(bytes.size, 'file')} to upload (${megabytes(toUpload)}).`,
  );
}

/** Shows what an import did. */
export function printOutcome(plan: Plan, { done, rejected, stopped }: Outcome): void {
  const { steps } = plan;
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const finished = changing.filter((step) => done.has(step));
  const made = finished.filter(({ action }) => action === 'create');
  const updated = finished.filter(({ action }) => action === 'update');
  const allRejected = [...plan.rejected, ...rejected];
  console.log();
  print([
    ...made.map((step): Line => ['made', step.file, step.write.title ?? '']),
    ...updated.map((step): Line => ['updated', step.file, describe(step)]),
    ...remarks(plan, allRejected),
  ]);
  console.log(
    `\n${made.length} made, ${updated.length} updated, ${countOfRest(steps)}, ${allRejected.length} rejected.`,
  );
  if (stopped !== undefined) {
    const isRejected = ({ file }: Step) => rejected.some(({ where }) => where === file);
    const left = changing.filter((step) => !done.has(step) && !isRejected(step));
    console.error(
      `${stopped}\n${plural(left.length, 'sound')} left to import. Run the import again to continue.`,
    );
  }
}
