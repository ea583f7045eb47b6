import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** A part of the report; all rows are as long as the head. */
export type Table = { title: string; note: string; head: string[]; rows: string[][] };

export const whole = (value: number) => Math.round(value).toLocaleString('en');
export const milliseconds = (value: number) => `${value.toFixed(2)} ms`;

/** Whether a figure keeps to its target, as the last column of a table says it. */
export const verdict = (kept: boolean) => (kept ? 'yes' : 'NO');

/** A table in Markdown, which reads well in a terminal, too. */
export function format({ title, note, head, rows }: Table): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) => `| ${cells.map((text, i) => text.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
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
  const changed = git('status', '--porcelain', '--', 'src', 'supabase', 'bench') && ' with changes';
  return (git('rev-parse', '--short', 'HEAD') || 'unknown') + changed;
}

/** Where and when a run is made; the load is what others had the machine do when it began. */
export const header = () => `# Results of \`npm run bench\`

- Machine: ${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.version}; load when it began ${loadavg()[0]?.toFixed(1)}
- Commit: ${commit()}
- Date: ${new Date().toISOString().slice(0, 10)}

README.md beside this file says what is compared, and how to read it.
`;
