import { readFileSync } from 'node:fs';

// Stops a program when the npm that runs it has ended. npm sends signals to the shell of a script only, Debian's shell
// does not pass them on, and a script cannot replace the shell by `exec`, because Windows has no such command.

const shell = process.ppid;

/** Returns the process id of npm, or undefined if npm is the parent itself or /proc does not exist. */
function npmBehindShell(): string | undefined {
  try {
    const status = readFileSync(`/proc/${shell}/status`, 'utf8');
    return /^Name:\t(?:ba|da)?sh$.*?^PPid:\t(\d+)$/ms.exec(status)?.[1];
  } catch {
    return undefined;
  }
}

const npm = npmBehindShell();

if (process.env['npm_lifecycle_event'] !== undefined) {
  const timer = setInterval(() => {
    if (process.ppid === shell && npmBehindShell() === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  timer.unref();
}
