import { styleText } from 'node:util';
import { COLUMNS, columnsOf } from '../shared/fields.ts';
import type { Problem } from '../shared/problems.ts';
import { nameOf } from '../shared/sound.ts';
import { megabytes, plural, printable } from '../shared/text.ts';
import { isChanging, type Step } from './plan.ts';
import { type Part, titleOf } from './structure.ts';

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

export type Line = [kind: keyof typeof COLOURS, where: string, text: string];

/** Maximum width of the column of names. Longer names move their text to the right. */
const WIDEST = 44;

/** Prints lines of a report, with control characters escaped. */
export function print(lines: Line[]): void {
  const escaped = lines.map(([kind, ...texts]) => [kind, ...texts.map(printable)] as Line);
  const width = Math.min(WIDEST, Math.max(...escaped.map(([, where]) => [...where].length)));
  for (const [kind, where, text] of escaped) {
    const padding = ' '.repeat(Math.max(0, width - [...where].length));
    console.log(`${styleText(COLOURS[kind], kind.padEnd(10))}  ${where}${padding}  ${text}`.trimEnd());
  }
}

/** Steps of an import, and the problems that prevent others. */
export interface Plan {
  source: string;
  steps: Step[];
  parts: Part[];
  notes: Problem[];
  rejected: Problem[];
}

export function describe({ action, write, facts, row, uploads }: Step): string {
  if (action !== 'update') return action === 'create' ? 'made' : 'unchanged';
  const columns = columnsOf(write).map((column) =>
    column === 'title' ? `"${row?.title}" becomes "${write.title}"` : COLUMNS[column],
  );
  if (columns.length > 0) return columns.join(', ');
  return facts
    ? 'loudness, waveform or placeholder'
    : `${uploads[0]?.bucket === 'audio' ? 'recording' : 'picture'}, missing from Storage`;
}

const isLeftAlone = ({ leftAlone }: Step) => leftAlone.length > 0;
const isHeld = ({ isHeld }: Step) => isHeld;

/** Counts the sounds that are not written, and the sounds with fields that keep the value set in the dashboard. */
export function countOfRest(steps: Step[]): string {
  const isSame = (step: Step) => !isChanging(step) && !isLeftAlone(step) && !isHeld(step);
  const held = steps.filter(isHeld).length;
  const counts = `${steps.filter(isSame).length} unchanged, ${steps.filter(isLeftAlone).length} left alone`;
  return held > 0 ? `${counts}, ${held} held back` : counts;
}

/** Lists each sound that moved within the folder, and counts the sounds from other folders. */
function moves({ steps, source }: Plan): Line[] {
  const moved = steps.flatMap(({ file, from }) => (from ? [{ file, from }] : []));
  return [...Map.groupBy(moved, ({ from }) => from.source)].flatMap(([other, sounds]): Line[] => {
    if (other === source) return sounds.map(({ file, from }) => ['moved', file, `was ${nameOf(from)}`]);
    const where = sounds.length === 1 ? (sounds[0]?.file ?? '') : plural(sounds.length, 'sound');
    return [['note', where, `known from "${other}"`]];
  });
}

/** Returns the lines that are printed before and after an import. */
export function remarks({ steps, parts, notes }: Plan, rejected: Problem[]): Line[] {
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
      .map((part): Line => {
        const what = `${titleOf(part)}: the project has another; --overwrite would replace it`;
        return ['left alone', part.where, what];
      }),
    ...steps.flatMap(({ file, notes }) => notes.map((note): Line => ['note', file, note])),
    ...notes.map(({ where, reason }): Line => ['note', where, reason]),
    ...rejected.map(({ where, reason }): Line => ['rejected', where, reason]),
  ];
}

export function printPlan(plan: Plan): void {
  const { steps, parts, rejected } = plan;
  const changing = steps.filter(isChanging);
  const planned = changing.map((step): Line => {
    const { action, file, write } = step;
    if (action === 'create') return ['new', file, `${write.title} (${write.category ?? 'no category'})`];
    return ['update', file, describe(step)];
  });
  const structure = parts.flatMap((part): Line[] => {
    const kind = ({ create: 'new', update: 'update' } as const)[part.action as string];
    return kind ? [[kind, part.where, titleOf(part)]] : [];
  });
  print([...structure, ...planned, ...moves(plan), ...remarks(plan, rejected)]);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const bytes = new Map(changing.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  const toUpload = [...bytes.values()].reduce((sum, size) => sum + size, 0);
  console.log(
    `\n${count('create')} new, ${count('update')} to update, ${countOfRest(steps)}, ${rejected.length} rejected; ` +
      `${plural(bytes.size, 'file')} to upload (${megabytes(toUpload)}).`,
  );
}
