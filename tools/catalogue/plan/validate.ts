import type { SupabaseClient } from '@supabase/supabase-js';
import { readingFailed, rejectionOf } from '../project/database.ts';
import { columnNames, columnsOf, pick } from '../shared/fields.ts';
import type { Problem } from '../shared/problems.ts';
import type { Step } from './plan.ts';

/** Maximum number of rows in a call. */
const rowsAtOnce = 500;

/** Removes steps whose rows the database rejects, after it has tried each row and rolled it back. */
export async function validate(client: SupabaseClient, steps: Step[]) {
  const writing = steps.filter(({ action }) => action !== 'unchanged');
  const rejected = new Map<Step, Problem>();
  for (let first = 0; first < writing.length; first += rowsAtOnce) {
    const tried = writing.slice(first, first + rowsAtOnce);
    const query = client.rpc('validate_sounds', { sounds: tried.map(rowOf) });
    const { data } = await query.throwOnError().then(undefined, readingFailed);
    for (const { index, message } of data as { index: number; message: string }[]) {
      const step = tried[index];
      if (step) rejected.set(step, { where: step.file, reason: rejectionOf(message) });
    }
  }
  return { steps: steps.filter((step) => !rejected.has(step)), problems: [...rejected.values()] };
}

/** Returns the row as it is after the step. */
const rowOf = ({ row, write, facts, createdAt }: Step) => ({
  ...(row && pick(row, columnsOf(columnNames))),
  ...write,
  ...facts,
  ...(createdAt && { created_at: createdAt }),
});
