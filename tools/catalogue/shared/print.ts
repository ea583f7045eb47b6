import { styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import { isTerminal } from './command.ts';
import type { Problem } from './problems.ts';
import { megabytes, printable } from './text.ts';

const colours = {
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

export type Line = [kind: keyof typeof colours, where: string, text: string];

/** Maximum width of the column of names. Longer names move their text to the right. */
const widest = 44;

/** Prints lines of a report, with control characters escaped. */
export function print(lines: Line[]): void {
  const escaped = lines.map(([kind, ...texts]) => [kind, ...texts.map(printable)] as Line);
  const width = Math.min(widest, Math.max(...escaped.map(([, where]) => [...where].length)));
  for (const [kind, where, text] of escaped) {
    const padding = ' '.repeat(Math.max(0, width - [...where].length));
    console.log(`${styleText(colours[kind], kind.padEnd(10))}  ${where}${padding}  ${text}`.trimEnd());
  }
}

export const linesOf = (kind: Line[0], problems: Problem[]) =>
  problems.map(({ where, reason }): Line => [kind, where, reason]);

/**
 * Shows a progress bar in a terminal.
 * @param fields text after the percentage, in which `{rate}` and the names of `values` stand for their values
 */
export function showBar(total: number, fields: string, values: object = {}) {
  const startedMs = performance.now();
  let done = 0;
  const bar = new SingleBar(
    {
      format: `{bar} {percentage}% | ${fields}`,
      barsize: 24,
      etaBuffer: 200,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  if (isTerminal && total > 0) {
    bar.start(total, 0, { rate: '', ...values });
    process.once('exit', () => bar.stop()); // shows the cursor again
  }
  return {
    add(amount: number, changed: object = {}) {
      done += amount;
      const seconds = Math.max(performance.now() - startedMs, 1) / 1000;
      bar.update(done, { rate: `${megabytes(done / seconds)}/s`, ...changed });
    },
    close: () => bar.stop(),
  };
}
