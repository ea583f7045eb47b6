import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** A part of the report; all rows are as long as the head. */
export type Table = { title: string; note: string; head: string[]; rows: string[][] };

export const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
export const spread = ({ median, low, high }: { median: number; low: number; high: number }) =>
  `${percent(median)} (${percent(low)} to ${percent(high)})`;
export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
export const milliseconds = (value: number) => `${value.toFixed(2)} ms`;
export const microseconds = (value: number) => `${value.toFixed(0)} µs`;

/** Whether a figure keeps to its target, as the last column of a table says it. */
export const verdict = (kept: boolean) => (kept ? 'yes' : 'NO');

const cell = (text: string, width: number, column: number) =>
  column === 0 ? text.padEnd(width) : text.padStart(width);

/** The same text is a table in a terminal and in Markdown. */
function format({ title, note, head, rows }: Table): string {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((text, column) => cell(text, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(width + 1) + (column === 0 ? '-' : ':')).join('|')}|`;
  return `## ${title}\n\n${note}\n\n${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** The commit that is measured, and whether it is all. */
export function commit(): string {
  const changed =
    git('status', '--porcelain', '--', 'src', 'supabase', 'bench') === '' ? '' : ' with changes';
  return (git('rev-parse', '--short', 'HEAD') || 'unknown') + changed;
}

/** Where and when a run is made; the load is what others had the machine do when it began. */
function header(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() || 'unknown processor'}, ${memory}`;
  return `# Results of \`npm run bench\`

- Machine: ${machine}, ${process.platform}, Node ${process.version}; load when it began ${loadavg()[0]?.toFixed(1)}
- Commit: ${commit()}
- Date: ${new Date().toISOString().slice(0, 10)}

Figures of one run on one machine: compare within a table, not between runs. README.md beside this file says how to read
them.
`;
}

/** Collects tables, shows each as soon as it is there, and writes all of them to a file. */
export function createReport(file: string) {
  const parts = [header()];
  console.log(parts[0]);
  return {
    add(table: Table) {
      const text = format(table);
      parts.push(text);
      console.log(text);
    },
    write: () => writeFileSync(file, parts.join('\n')),
  };
}
