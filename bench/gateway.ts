import { LOCAL_KEYS } from '../dev/keys.ts';
import { start } from './processes.ts';

type Options = {
  env?: Record<string, string>;
  /** What wires the app; the server that runs in production, unless said. */
  script?: string;
  log?: string;
  nodeOptions?: string[];
};

/** The gateway with every feature on, its limits out of reach, its log written as JSON, in front of a Supabase. */
export const startGateway = (
  supabasePort: number,
  { env = {}, script = 'src/server.ts', log = '/dev/null', nodeOptions = [] }: Options = {},
) =>
  start(script, {
    log,
    nodeOptions,
    env: {
      SUPABASE_URL: `http://127.0.0.1:${supabasePort}`,
      SUPABASE_PUBLISHABLE_KEY: LOCAL_KEYS.publishableKey,
      SUPABASE_SECRET_KEY: LOCAL_KEYS.secretKey,
      SUPABASE_JWT_SECRET: LOCAL_KEYS.jwtSecret,
      REQUIRE_HTTPS: 'false',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000000',
      SHUTDOWN_GRACE_SECONDS: '1',
      ...env,
    },
  });
