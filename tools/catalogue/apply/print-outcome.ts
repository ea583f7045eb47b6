import { isChanging, type Step } from '../plan/plan.ts';
import { countOfRest, describe, type Line, type Plan, print, remarks } from '../plan/print-plan.ts';
import { plural } from '../shared/text.ts';
import type { Outcome } from './carry-out.ts';

export function printOutcome(plan: Plan, { done, rejected, stopped }: Outcome): void {
  const { steps } = plan;
  const finished = steps.filter((step) => isChanging(step) && done.has(step));
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
  if (stopped === undefined) return;
  const isRejected = ({ file }: Step) => rejected.some(({ where }) => where === file);
  const left = steps.filter((step) => isChanging(step) && !done.has(step) && !isRejected(step));
  console.error(`${stopped}\n${plural(left.length, 'sound')} left to import. Run the import again to continue.`);
}
