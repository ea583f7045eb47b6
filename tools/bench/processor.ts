import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether this machine says what a process has taken: Linux alone does. */
export const knowsProcessorTime = existsSync('/proc/self/stat');

/** Of a process: its parent, and the processor time that it has taken, in seconds. */
function statOf(pid: number) {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const fields = afterName.split(' ').map(Number);
  const [user = 0, system = 0] = fields.slice(11, 13);
  return { parent: fields[1], seconds: (user + system) / 100 };
}

/** Processor time that a process of this machine has taken, in seconds. */
export const processorSeconds = (pid: number): number => statOf(pid).seconds;

/** Processor time that a Postgres and all its processes have taken, in seconds. @param folder where its database is */
export function postgresSeconds(folder: string): number {
  const [server] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n').map(Number);
  let sum = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (Number.isNaN(pid)) continue;
    try {
      const { parent, seconds } = statOf(pid);
      if (pid === server || parent === server) sum += seconds;
    } catch {} // one that has just ended
  }
  return sum;
}
