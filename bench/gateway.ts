import { readFileSync } from 'node:fs';
import { LOCAL_KEYS } from '../dev/keys.ts';
import { start } from './processes.ts';

type Options = {
  env?: Record<string, string>;
  /** What wires the app; the server that runs in production, unless said. */
  script?: string;
  log?: string;
  nodeOptions?: string[];
};

/** The environment and the options of Node that `npm start` runs the gateway with. */
function productionSettings() {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const [settings = '', options = ''] = (scripts.start as string).split(' exec node ');
  return {
    env: Object.fromEntries(settings.split(' ').map((setting) => setting.split('=') as [string, string])),
    nodeOptions: options.split(' ').filter((option) => /^--(?!env-file)/.test(option)),
  };
}

const production = productionSettings();

/** The gateway with every feature on, its limits out of reach, its log written as JSON, in front of a Supabase. */
export const startGateway = (
  supabasePort: number,
  { env = {}, script = 'src/server.ts', log = '/dev/null', nodeOptions = [] }: Options = {},
) =>
  start(script, {
    log,
    nodeOptions: [...production.nodeOptions, ...nodeOptions],
    env: {
      ...production.env,
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
