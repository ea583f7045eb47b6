import type { Step } from '../plan/plan.ts';
import { describe } from '../plan/print-plan.ts';
import { isTerminal } from '../shared/command.ts';
import { newBar, rateOf } from '../shared/progress-bar.ts';
import { printable } from '../shared/text.ts';
import type { Progress } from './carry-out.ts';

/** Bytes that the progress bar counts for the row of a sound, because writing rows takes time, too. */
const STEP_BYTES = 20_000;

/** Shows the progress of an import: a bar in a terminal, otherwise a line for each file. */
export function showProgress(steps: Step[]): Progress {
  return isTerminal && steps.length > 0 ? bar(steps) : lines(steps.length);
}

function bar(steps: Step[]): Progress {
  const files = new Map(steps.flatMap(({ uploads }) => uploads).map(({ path, size }) => [path, size]));
  const total = [...files.values()].reduce((sum, size) => sum + size, steps.length * STEP_BYTES);
  const startedMs = performance.now();
  let [done, sent] = [0, 0];
  const view = newBar('{done} of {count} | {rate} | {eta_formatted} left | {file}');
  view.start(total, 0, { done, count: steps.length, rate: '', file: '' });
  const update = (payload: object = {}) => {
    view.update(sent + done * STEP_BYTES, { done, rate: rateOf(sent, startedMs), ...payload });
  };
  return {
    begin: ({ file }) => update({ file: printable(file) }),
    sent(bytes) {
      sent += bytes;
      update();
    },
    end() {
      done += 1;
      update();
    },
    close: () => view.stop(),
  };
}

function lines(count: number): Progress {
  let done = 0;
  return {
    begin() {},
    sent() {},
    end(step, outcome) {
      done += 1;
      console.log(`${done}/${count}  ${printable(`${step.file}: ${outcome === 'done' ? describe(step) : outcome}`)}`);
    },
    close() {},
  };
}
