import { pino } from 'pino';
import { createLimiters } from '../limits/limiters.ts';
import { createTrustedClients } from '../limits/trusted-clients.ts';
import { connectRedis } from '../shared/redis.ts';
import { NotChecked, Problem, throwAll, Warning } from './result.ts';
import { check } from './run.ts';

export const environment = check('Environment', [], ({ config }) => {
  const remedy = 'Remove it, or correct its name. .env.example lists all variables.';
  const warnings = config.unknownVariables.map(
    (name) => new Warning(`${name} is set, but the gateway does not read it.`, remedy),
  );
  const keys = {
    SUPABASE_PUBLISHABLE_KEY: config.supabase.publishableKey,
    SUPABASE_SECRET_KEY: config.secrets.supabaseSecretKey,
  };
  const legacy = Object.entries(keys).filter(([, key]) => key.startsWith('eyJ'));
  const replace = legacy.map(
    ([name]) =>
      new Warning(
        `${name} is a legacy key. Supabase removes these at the end of 2026.`,
        'Replace it by a new key from Project Settings, API Keys, in the dashboard (docs/operate.md, Replace keys).',
      ),
  );
  throwAll([...warnings, ...replace]);
  const name = config.appName === null ? ' APP_NAME is not set: the page that deletes an account says "this app".' : '';
  return `No variable is misspelled, and the keys are of the current kind.${name}`;
});

export const redis = check('Redis', [], async ({ config }) => {
  const { redisUrl } = config.secrets;
  if (redisUrl === null) throw new NotChecked('REDIS_URL is not set: each gateway limits by itself.');
  const shared = connectRedis(redisUrl, pino({ level: 'silent' }));
  // Create the trusted clients and the limiters, because each adds a check that must pass before Redis counts as up.
  const trustedClients = createTrustedClients(shared);
  const auth = { overload: () => undefined };
  createLimiters({ config, trustedClients, activeKeys: new Set(), auth, redis: shared, metrics: null });
  await shared.settled;
  const problem = shared.problem();
  shared.close();
  if (problem === null) return 'It counts the limits.';
  throw new Problem(
    `Redis ${problem}.`,
    'Check that Redis is running, that REDIS_URL has its host, port and password (rediss:// for TLS), and that no firewall blocks this machine.',
  );
});
