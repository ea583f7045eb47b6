import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from './carry-out.ts';
import { megabytes } from './megabytes.ts';
import type { Step } from './plan.ts';
import { describe } from './report.ts';

/** What a step counts besides the files it sends, in bytes: those that send nothing take their time, too. */
const STEP_BYTES = 20_000;

/** Shows how far the import is: with a bar, rate and time left in a terminal, else with a line for each file. */
export function showProgress(steps: Step[], isTerminal: boolean): Progress & { close(): void } {
  return isTerminal && steps.length > 0 ? bar(steps) : lines(steps.length);
}

const newBar = (format: string) =>
  new SingleBar(
    {
      format: `{bar} {percentage}% | ${format}`,
      barsize: 24,
      etaBuffer: 200,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );

function rateOf(bytes: number, startedMs: number): string {
  const seconds = Math.max(performance.now() - startedMs, 1) / 1000;
  return `${megabytes(bytes / seconds)}/s`;
}

function bar(steps: Step[]): Progress & { close(): void } {
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
    begin: ({ file }) => update({ file }),
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

function lines(count: number): Progress & { close(): void } {
  let done = 0;
  return {
    begin() {},
    sent() {},
    end(step, outcome) {
      done += 1;
      console.log(`${done}/${count}  ${step.file}: ${outcome === 'done' ? describe(step) : outcome}`);
    },
    close() {},
  };
}

/** Shows how many recordings have been read; nothing where there is no terminal. */
export function showReading(isTerminal: boolean): (done: number, total: number) => void {
  return (done, total) => {
    if (isTerminal)
      process.stdout.write(
        `\r\x1b[KReading recordings: ${done} of ${total}${done === total ? '\r\x1b[K' : ''}`,
      );
  };
}

/** Shows how many of so many bytes have come: with a bar, rate and time left in a terminal, else not at all. */
export function showBytes(total: number, isTerminal: boolean) {
  if (!isTerminal) return { add() {}, close() {} };
  const startedMs = performance.now();
  const view = newBar('{come} | {rate} | {eta_formatted} left');
  let come = 0;
  view.start(total, 0, { rate: '', come: '' });
  return {
    add(bytes: number) {
      come += bytes;
      view.update(come, { rate: rateOf(come, startedMs), come: megabytes(come) });
    },
    close: () => view.stop(),
  };
}
