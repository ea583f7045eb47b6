import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

// Keeps running after errors that the driver throws outside of calls when a connection is lost, as real services do.
const script = `
  process.on('uncaughtException', (error) => console.error(error.message));
  import { startApi } from '@sounds-service/local-supabase/api';
  const { url } = await startApi(JSON.parse(process.argv[1]));
  console.log(url);`;

/** Starts the Supabase API in a separate process, which can be killed. */
export async function startApiProcess(options: { databaseUrl: string; storageDir: string; port: number }) {
  const args = ['--input-type=module-typescript', '--eval', script, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  // Print errors with the failing test.
  createInterface({ input: child.stderr }).on('line', (line) => console.error(line));
  const exited = once(child, 'exit');
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited]);
  if (typeof url !== 'string') throw new Error('The Supabase API did not start.');
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
