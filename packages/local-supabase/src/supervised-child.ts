import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A child process that cannot outlive this one. */
export interface SupervisedChild {
  /** The wrapping shell; its stdout and stderr are those of the command. */
  readonly process: ChildProcess;
  /** Settles when the command is gone, for whatever reason. */
  readonly exited: Promise<void>;
  /** Sends the command its stop signal and waits until it is gone. Safe to call twice. */
  stop(): Promise<void>;
}

// The shell holds the read end of a pipe that only we can write to. When we stop, or are killed, the pipe closes, `read`
// returns and the command gets its signal. `read` is a builtin, so nothing is left waiting when the command ends first.
const SCRIPT = `
signal=$1; shift
exec 3<&0
"$@" 3<&- </dev/null & command=$!
(read -r _ <&3; kill "-$signal" $command) & watcher=$!
exec 3<&-
wait $command; status=$?
kill $watcher 2>/dev/null
exit $status`;

/**
 * Spawns `command` so that it ends with this process, even when this process is killed with SIGKILL.
 * It runs in a session of its own: a Ctrl-C in the terminal reaches only us, and we decide the order of stopping.
 * @param stopSignal without the SIG prefix, as `kill` takes it
 */
export function spawnSupervised(
  command: string,
  args: string[],
  stopSignal: 'INT' | 'TERM',
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> & { stdout: 'ignore' | 'pipe' },
): SupervisedChild {
  const { stdout, ...rest } = options;
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'supervise', stopSignal, command, ...args], {
    ...rest,
    stdio: ['pipe', stdout, 'pipe'],
    detached: true,
  });
  // Nothing is ever written; that the reader is gone by the time the pipe closes is no error.
  child.stdin?.on('error', () => {});
  const exited = once(child, 'exit')
    .catch(() => {})
    .then(() => {});
  return {
    process: child,
    exited,
    stop() {
      child.stdin?.destroy();
      return exited;
    },
  };
}
