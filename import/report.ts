import { styleText } from 'node:util';
import { describe, type Outcome } from './carry-out.ts';
import type { Step } from './plan.ts';
import type { Problem } from './problems.ts';

type Kind = 'create' | 'update' | 'created' | 'updated' | 'kept' | 'note' | 'skipped';
type Line = [kind: Kind, where: string, text: string];

const COLOURS = {
  create: 'green',
  update: 'cyan',
  created: 'green',
  updated: 'cyan',
  kept: 'yellow',
  note: 'yellow',
  skipped: 'red',
} as const;

/** Longer names push their text to the right. */
const WIDEST = 44;

function print(lines: Line[]): void {
  const width = Math.min(WIDEST, Math.max(...lines.map(([, where]) => [...where].length)));
  for (const [kind, where, text] of lines) {
    const padding = ' '.repeat(Math.max(0, width - [...where].length));
    console.log(`${styleText(COLOURS[kind], kind.padEnd(7))}  ${where}${padding}  ${text}`.trimEnd());
  }
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What is the same in the plan and the outcome. */
function remarks(steps: Step[], skipped: Problem[]): Line[] {
  return [
    ...steps
      .filter(({ kept }) => kept.length > 0)
      .map(({ file, row, kept }): Line => {
        const what = row
          ? `${kept.join(', ')}: changed in the dashboard; --overwrite would replace it`
          : 'deleted in the dashboard; --overwrite would restore it';
        return ['kept', file, what];
      }),
    ...steps.flatMap(({ file, notes }) => notes.map((note): Line => ['note', file, note])),
    ...skipped.map(({ where, reason }): Line => ['skipped', where, reason]),
  ];
}

/** Shows what an import would do. */
export function printPlan(steps: Step[], skipped: Problem[]): void {
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const planned = changing.map(
    (step): Line => [
      step.action === 'create' ? 'create' : 'update',
      step.file,
      step.action === 'create'
        ? `${step.write.title} (${step.write.category ?? 'no category'})`
        : describe(step),
    ],
  );
  print([...planned, ...remarks(steps, skipped)]);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const bytes = new Map(changing.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  const megabytes = [...bytes.values()].reduce((sum, size) => sum + size, 0) / 1e6;
  console.log(
    `\n${count('create')} to create, ${count('update')} to update, ${count('unchanged')} unchanged, ${skipped.length} skipped; ` +
      `${plural(bytes.size, 'file')} to upload (${megabytes.toFixed(1)} MB).`,
  );
}

/** Shows what an import did. */
export function printOutcome(
  steps: Step[],
  { done, skipped, stopped }: Outcome,
  skippedBefore: Problem[],
): void {
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const finished = changing.filter((step) => done.has(step));
  const created = finished.filter(({ action }) => action === 'create');
  const updated = finished.filter(({ action }) => action === 'update');
  const allSkipped = [...skippedBefore, ...skipped];
  const unchanged = steps.length - changing.length;
  console.log();
  print([
    ...created.map((step): Line => ['created', step.file, step.write.title ?? '']),
    ...updated.map((step): Line => ['updated', step.file, describe(step)]),
    ...remarks(steps, allSkipped),
  ]);
  console.log(
    `\n${created.length} created, ${updated.length} updated, ${unchanged} unchanged, ${allSkipped.length} skipped.`,
  );
  if (stopped !== undefined) {
    const missing = changing.length - finished.length - skipped.length;
    console.error(
      `${stopped}\n${plural(missing, 'sound')} left to import. Run the import again to continue.`,
    );
  }
}
