import { fileURLToPath } from 'node:url';
import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { migrationDrift, migrationsFolder } from '@sounds-service/local-supabase/migrations';
import { type Stack, startStack } from '@sounds-service/local-supabase/stack';
import { watch } from 'chokidar';
import { pino } from 'pino';
import { diskProblem, fullMb, neededMb } from './disk.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { prettyLog } from './log.ts';
import { howToApply } from './pending-migrations.ts';
import { type Player, startPlayer } from './player.ts';
import { watchSchemas } from './schema-watch.ts';
import { seed } from './seed.ts';
import { readSettings, type Settings } from './settings.ts';
import { summary } from './summary.ts';

// `npm run dev` starts a local Supabase with samples, the gateway and the example player. Ctrl-C stops all of them.

// Writes lines in the format of the gateway's log, because both share the terminal.
const logger = pino(prettyLog({ sync: true }));
const log = (line: string) => logger.info(line);

/** Returns the gateway's environment: that of this process, with the local stack instead of the project of `.env`. */
function gatewayEnv(stack: Stack, { gatewayPort }: Settings): NodeJS.ProcessEnv {
  return {
    // Restarts quickly.
    DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '1',
    // Allows web apps in development at any port.
    CORS_ORIGINS: 'http://localhost:*,http://127.0.0.1:*',
    ...process.env,
    PORT: String(gatewayPort),
    // Listens at least at 127.0.0.1, because the player and this process call it.
    HOST: process.env['HOST'] === '127.0.0.1' ? '127.0.0.1' : undefined,
    // Accepts plain http, because no proxy ends TLS.
    REQUIRE_HTTPS: 'false',
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_PUBLIC_URL: stack.publicUrl,
    SUPABASE_READ_URL: undefined,
    DEV_DATABASE_URL: stack.databaseUrl,
    SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
    SUPABASE_SECRET_KEY: stack.secretKey,
    // Removes the secret, because the stack signs with a key pair.
    SUPABASE_JWT_SECRET: undefined,
  };
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let stack: Promise<Stack> | undefined;
let gateway: Gateway | undefined;
let player: Player | undefined;
let ending = false;

// Ctrl-C arrives twice, because npm forwards the signal that the terminal already sent.
const samePressMs = 500;

/** Stops the player, the gateway, the stack, and then this process. */
async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  // A second Ctrl-C exits at once; the children end by themselves.
  setTimeout(() => {
    for (const signal of signals) process.on(signal, () => process.exit(1));
  }, samePressMs);
  await player?.stop();
  await gateway?.stop();
  const running = await stack?.catch(() => undefined);
  await running?.stop();
  process.exit(code);
}

async function run(settings: Settings): Promise<void> {
  const problem = diskProblem(settings.dataDir, neededMb);
  if (problem) throw new Error(problem);
  stack = startStack({
    ...settings,
    otherPorts: { PORT: settings.gatewayPort, PLAYER_PORT: settings.playerPort },
    log,
  });
  const running = await stack;
  void running.exited.then(() => {
    if (ending) return;
    console.error('PostgreSQL stopped unexpectedly. Committed data is safe: run npm run dev again.');
    void end(1);
  });
  await seed(running, settings.empty, log);
  if (ending) return;
  log('Starting the gateway');
  gateway = startGateway(gatewayEnv(running, settings), log);
  await gateway.ready();
  const { playerPort: port, gatewayPort, dataDir } = settings;
  player = await startPlayer({ port, gatewayPort, dataDir });
  console.log(await summary(running, settings));
  watchMigrations(running);
  watchSchemas((line) => logger.warn(line));
}

/** Reports new migrations, for example after a git pull, because the next start applies them. */
function watchMigrations({ databaseUrl }: Stack): void {
  watch(fileURLToPath(migrationsFolder), { ignoreInitial: true }).on('add', async () => {
    const { pending } = await migrationDrift(databaseUrl);
    if (pending.length > 0) logger.warn(howToApply(pending));
  });
}

for (const signal of signals) process.on(signal, () => void end(0));

// Exits without waiting, because the database driver throws from a timer if its connection breaks while it writes, and
// its query then never ends. The children end by themselves.
process.on('uncaughtException', (error) => {
  if (ending) return;
  console.error(error);
  console.error('npm run dev has ended. Committed data is safe: run it again.');
  process.exit(1);
});

let dataDir: string | undefined;
readEnvFile();
readSettings(process.argv.slice(2))
  .then((settings) => {
    dataDir = settings.dataDir;
    return run(settings);
  })
  .catch((error: unknown) => {
    if (ending) return;
    const full = dataDir && diskProblem(dataDir, fullMb);
    console.error(full ?? (error instanceof Error ? error.message : error));
    void end(1);
  });
