import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Child process that ends with this process. */
export interface SupervisedChild {
  /** Shell around the command. Its stdout and stderr are those of the command. */
  readonly process: ChildProcess;
  /** Settles when the command has ended for any reason. */
  readonly exited: Promise<void>;
  /** Sends the command its stop signal and waits for its end. Can be called twice. */
  stop(): Promise<void>;
}

// The shell reads from a pipe that only this process can write to. When this process stops or is killed, the pipe
// closes, `read` returns and the command gets its signal.
const supervisorScript = `
signal=$1; shift
exec 3<&0
"$@" 3<&- </dev/null & command=$!
(read -r _ <&3; kill "-$signal" $command) & watcher=$!
exec 3<&-
wait $command; status=$?
kill $watcher 2>/dev/null
exit $status`;

/**
 * Spawns `command` so that it ends with this process, even after SIGKILL. Uses a separate session, so that Ctrl-C
 * reaches only this process, which then stops its children in order.
 * @param stopSignal without the SIG prefix
 */
export function spawnSupervised(
  command: string,
  args: string[],
  stopSignal: 'INT' | 'TERM',
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> & { stdout: 'ignore' | 'pipe' },
): SupervisedChild {
  const { stdout, ...rest } = options;
  const child = spawn('/bin/sh', ['-c', supervisorScript, 'supervise', stopSignal, command, ...args], {
    ...rest,
    stdio: ['pipe', stdout, 'pipe'],
    detached: true,
  });
  // Ignore errors, because the reader may have ended before the pipe closes.
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
