import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { inject } from 'vitest';
import { expectNoSecretIn } from './secrets.ts';

/** The environment of a gateway in front of the stack of this test run, with rate limits out of the way. */
export function environment(): Record<string, string> {
  const { apiUrl, publishableKey, secretKey, jwtSecret } = inject('stack');
  return {
    PORT: '0',
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
    SUPABASE_JWT_SECRET: jwtSecret,
    REQUIRE_HTTPS: 'false',
    RATE_LIMIT_PER_MINUTE: '1000000',
    API_KEY_RATE_LIMIT_PER_MINUTE: '1000000',
    ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000',
    SIGN_UP_LIMIT_PER_HOUR: '1000000',
  };
}

/** Starts the process that `npm start` runs; by its TMPDIR it ends with the run, also when that is killed. */
export function startServer(env: Record<string, string>) {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['src/server.ts'], {
    env: { PATH, TMPDIR, NODE_COMPILE_CACHE, ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  // Not at its exit: what it said last may be read only after that.
  const exited = once(child, 'close').then((result) => {
    expectNoSecretIn(output.stdout + output.stderr);
    return result as [code: number | null, signal: NodeJS.Signals | null];
  });
  return { child, output, exited };
}

/** Starts it and waits until it listens; resolves to the process and where it listens. */
export async function startListening(env: Record<string, string>) {
  const server = startServer(env);
  const line = await new Promise<string>((resolve, reject) => {
    server.child.stdout.on('data', () => {
      const found = server.output.stdout.split('\n').find((each) => /Listening.*\}$/.test(each));
      if (found) resolve(found);
    });
    void server.exited.then(() =>
      reject(new Error(`The gateway does not listen: ${server.output.stdout}${server.output.stderr}`)),
    );
  });
  const { address } = JSON.parse(line) as { address: { port: number } };
  return { ...server, origin: `http://127.0.0.1:${address.port}` };
}

/** Returns the resident memory of a process in MB. */
export const residentMb = (pid: number | undefined) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
