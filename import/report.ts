import { styleText } from 'node:util';
import { describe, type Outcome } from './carry-out.ts';
import type { Step } from './plan.ts';
import type { Problem } from './problems.ts';

type Kind = 'new' | 'update' | 'made' | 'updated' | 'left alone' | 'note' | 'refused';
type Line = [kind: Kind, where: string, text: string];

const COLOURS = {
  new: 'green',
  update: 'cyan',
  made: 'green',
  updated: 'cyan',
  'left alone': 'yellow',
  note: 'yellow',
  refused: 'red',
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

const isLeftAlone = ({ leftAlone }: Step) => leftAlone.length > 0;

/** Of the sounds that are not written, and of those that are written but for what the dashboard has changed. */
function countOfRest(steps: Step[]): string {
  const unchanged = steps.filter((step) => step.action === 'unchanged' && !isLeftAlone(step));
  return `${unchanged.length} unchanged, ${steps.filter(isLeftAlone).length} left alone`;
}

/** What is the same in the plan and the outcome. */
function remarks(steps: Step[], refused: Problem[]): Line[] {
  return [
    ...steps.filter(isLeftAlone).map(({ file, row, leftAlone }): Line => {
      const what = row
        ? `${leftAlone.join(', ')}: changed in the dashboard; --overwrite would replace it`
        : 'deleted in the dashboard; --overwrite would restore it';
      return ['left alone', file, what];
    }),
    ...steps.flatMap(({ file, notes }) => notes.map((note): Line => ['note', file, note])),
    ...refused.map(({ where, reason }): Line => ['refused', where, reason]),
  ];
}

/** Shows what an import would do. */
export function printPlan(steps: Step[], refused: Problem[]): void {
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
  print([...planned, ...remarks(steps, refused)]);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const bytes = new Map(changing.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  const megabytes = [...bytes.values()].reduce((sum, size) => sum + size, 0) / 1e6;
  console.log(
    `\n${count('create')} new, ${count('update')} to update, ${countOfRest(steps)}, ${refused.length} refused; ` +
      `${plural(bytes.size, 'file')} to upload (${megabytes.toFixed(1)} MB).`,
  );
}

/** Shows what an import did. */
export function printOutcome(
  steps: Step[],
  { done, refused, stopped }: Outcome,
  refusedBefore: Problem[],
): void {
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const finished = changing.filter((step) => done.has(step));
  const made = finished.filter(({ action }) => action === 'create');
  const updated = finished.filter(({ action }) => action === 'update');
  const allRefused = [...refusedBefore, ...refused];
  console.log();
  print([
    ...made.map((step): Line => ['made', step.file, step.write.title ?? '']),
    ...updated.map((step): Line => ['updated', step.file, describe(step)]),
    ...remarks(steps, allRefused),
  ]);
  console.log(
    `\n${made.length} made, ${updated.length} updated, ${countOfRest(steps)}, ${allRefused.length} refused.`,
  );
  if (stopped !== undefined) {
    const missing = changing.length - finished.length - refused.length;
    console.error(
      `${stopped}\n${plural(missing, 'sound')} left to import. Run the import again to continue.`,
    );
  }
}
