import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export const whole = (value: number) => Math.round(value).toLocaleString('en');
export const milliseconds = (value: number) => `${value.toFixed(2)} ms`;

/** Last column of a table: whether the target is kept. */
export const verdict = (kept: boolean) => (kept ? 'yes' : 'NO');

/** Returns the measured commit, and whether there are changes on top of it. */
function commit(): string {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty= with changes'], { encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

/** Describes machine, commit and date. Call it before the run, because it includes the load of the machine. */
export function header(): string {
  const processor = `${availableParallelism()} × ${cpus()[0]?.model.trim()}`;
  const memory = `${whole(totalmem() / 2 ** 30)} GB`;
  return `\
- Machine: ${processor}, ${memory}, ${process.platform}, Node ${process.version}; load ${loadavg()[0]?.toFixed(1)}
- Commit: ${commit()}
- Date: ${new Date().toISOString().slice(0, 10)}
`;
}
