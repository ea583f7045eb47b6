import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hostAddress } from './host-address.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What `npm run dev` was asked for. */
export type Settings = Awaited<ReturnType<typeof readSettings>>;

/**
 * Reads the command line, and the environment with what `.env` adds to it. Asked for help, it gives that and ends the process.
 * @throws an Error that says what is wrong with an argument or a port
 */
export async function readSettings(args: string[]) {
  const { fresh, 'confirm-email': emailConfirmations, host, help } = readOptions(args);
  if (help) {
    console.log(USAGE);
    process.exit(0);
  }
  readEnvFile();
  const gatewayPort = port('PORT', 3000);
  const playerPort = port('PLAYER_PORT', 5173);
  const apiPort = port('SUPABASE_PORT', 54321);
  const databasePort = port('SUPABASE_DB_PORT', 54322);
  if (new Set([gatewayPort, playerPort, apiPort, databasePort]).size < 4) {
    throw new Error('PORT, PLAYER_PORT, SUPABASE_PORT and SUPABASE_DB_PORT must be four different ports.');
  }
  return {
    fresh,
    emailConfirmations,
    gatewayPort,
    playerPort,
    apiPort,
    databasePort,
    dataDir: process.env['DEV_DATA_DIR'] || join(root, '.data'),
    /** An address of this machine in its network, for phones. */
    host: host === undefined ? undefined : await hostAddress(host),
  };
}

const USAGE = `Usage: npm run dev -- [--fresh] [--confirm-email] [--host ADDRESS]
  --fresh           starts with an empty database
  --confirm-email   new accounts must confirm their address by the code that is mailed to them
  --host ADDRESS    for phones in the same network: signs URLs with this IPv4 address of your machine, such as 192.168.1.20,
                    and serves the files there; "auto" finds the address`;

const OPTIONS = {
  fresh: { type: 'boolean', default: false },
  'confirm-email': { type: 'boolean', default: false },
  host: { type: 'string' },
  help: { type: 'boolean' },
} as const;

function readOptions(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Adds to the environment what `.env` says, where there is one; what is set already stays. */
export function readEnvFile(): void {
  if (existsSync(join(root, '.env'))) process.loadEnvFile(join(root, '.env'));
}

function port(name: string, fallback: number): number {
  const value = Number(process.env[name] || fallback);
  if (Number.isInteger(value) && value >= 1 && value <= 65_535) return value;
  throw new Error(`${name} must be a port number from 1 to 65535.`);
}

/**
 * Makes sure that ports can be listened on; those that a run killed a moment ago still holds get a second.
 * @param ports by the variable that sets each
 * @throws an Error with a sentence for each that is taken
 */
export async function requireFreePorts(ports: Record<string, number>): Promise<void> {
  let taken = Object.entries(ports);
  for (let waited = 0; waited <= 1000; waited += 100) {
    const free = await Promise.all(taken.map(([, port]) => isFree(port)));
    taken = taken.filter((_, index) => !free[index]);
    if (taken.length === 0) return;
    await sleep(100);
  }
  const sentences = taken.map(
    ([variable, port]) => `Port ${port} is in use by another program; set ${variable} to another one.`,
  );
  throw new Error(sentences.join('\n'));
}

const isFree = async (port: number) => (await canListen(port, '127.0.0.1')) && (await canListen(port));

function canListen(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host }, () => server.close(() => resolve(true)));
  });
}
