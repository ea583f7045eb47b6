import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export const whole = (value: number) => Math.round(value).toLocaleString('en');
export const milliseconds = (value: number) => `${value.toFixed(2)} ms`;

/** Whether a figure keeps to its target, as the last column of a table says it. */
export const verdict = (kept: boolean) => (kept ? 'yes' : 'NO');

/** The commit that is measured, and whether it is all. */
function commit(): string {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty= with changes'], {
    encoding: 'utf8',
  });
  return stdout?.trim() || 'unknown';
}

/** Where and when a run is made; the load is what others had the machine do at that moment. */
export function header(): string {
  const processor = `${availableParallelism()} × ${cpus()[0]?.model.trim()}`;
  const memory = `${whole(totalmem() / 2 ** 30)} GB`;
  return `\
- Machine: ${processor}, ${memory}, ${process.platform}, Node ${process.version}; load ${loadavg()[0]?.toFixed(1)}
- Commit: ${commit()}
- Date: ${new Date().toISOString().slice(0, 10)}
`;
}
