import { inject } from 'vitest';
import { collect } from './processes.ts';
import { expectNoSecretIn } from './secrets.ts';

/** Returns the environment of a gateway for the stack of this test run, with very high rate limits. */
export function environment(): Record<string, string> {
  const { apiUrl, publishableKey, secretKey, jwtSecret } = inject('stack');
  return {
    PORT: '0',
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
    SUPABASE_JWT_SECRET: jwtSecret,
    REQUIRE_HTTPS: 'false',
    DRAIN_SECONDS: '0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    API_KEY_RATE_LIMIT_PER_MINUTE: '1000000',
    ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000',
    SIGN_UP_LIMIT_PER_HOUR: '1000000',
    GUEST_LIMIT_PER_HOUR: '1000000',
  };
}

/** Starts the process of `npm start`. test/setup/stack.ts finds it by its TMPDIR, and ends it after the run. */
export function startServer(env: Record<string, string>) {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const server = collect(['src/server.ts'], { PATH, TMPDIR, NODE_COMPILE_CACHE, ...env });
  const exited = server.exited.then((result) => {
    expectNoSecretIn(server.output.stdout + server.output.stderr);
    return result;
  });
  return { ...server, exited };
}

/** Starts the process and waits until it listens. Resolves to the process and its address. */
export async function startListening(env: Record<string, string>) {
  const server = startServer(env);
  const [line] = await server.until(/^.*Listening.*\}$/m);
  const { address } = JSON.parse(line) as { address: { port: number } };
  return { ...server, origin: `http://127.0.0.1:${address.port}` };
}
