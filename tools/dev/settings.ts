import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hostAddress } from './host-address.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Options and ports of `npm run dev`. */
export type Settings = Awaited<ReturnType<typeof readSettings>>;

/**
 * Reads the command line and the environment. --help prints the usage and ends the process.
 * @throws an Error about an invalid argument or port
 */
export async function readSettings(args: string[]) {
  const { fresh, empty, guests, 'confirm-email': emailConfirmations, host, help } = readOptions(args);
  if (help) {
    console.log(usage);
    process.exit(0);
  }
  const gatewayPort = port('PORT', 3000);
  const playerPort = port('PLAYER_PORT', 5173);
  const apiPort = port('SUPABASE_PORT', 54321);
  const databasePort = port('SUPABASE_DB_PORT', 54322);
  if (new Set([gatewayPort, playerPort, apiPort, databasePort]).size < 4) {
    throw new Error('PORT, PLAYER_PORT, SUPABASE_PORT and SUPABASE_DB_PORT must be four different ports.');
  }
  return {
    fresh,
    empty,
    emailConfirmations,
    guests,
    gatewayPort,
    playerPort,
    apiPort,
    databasePort,
    dataDir: process.env['DEV_DATA_DIR'] || join(root, '.data'),
    /** Address of this machine in its network, for phones. */
    host: host === undefined ? undefined : await hostAddress(host),
  };
}

const usage = `Usage: npm run dev -- [--fresh] [--empty] [--confirm-email] [--guests] [--host ADDRESS]
  --fresh           starts with an empty database
  --empty           omits the samples, so that you can try an import. If the catalogue has samples, add --fresh
  --confirm-email   requires new accounts to confirm their address with a mailed code
  --guests          lets people listen before they have an account
  --host ADDRESS    lets phones in the same network play files: signs and serves URLs at this IPv4 address of your
                    machine, such as 192.168.1.20; "auto" finds the address`;

const optionTypes = {
  fresh: { type: 'boolean', default: false },
  empty: { type: 'boolean', default: false },
  'confirm-email': { type: 'boolean', default: false },
  guests: { type: 'boolean', default: false },
  host: { type: 'string' },
  help: { type: 'boolean' },
} as const;

function readOptions(args: string[]) {
  try {
    return parseArgs({ args, options: optionTypes }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`);
  }
}

function port(name: string, fallback: number): number {
  const value = Number(process.env[name] || fallback);
  if (Number.isInteger(value) && value >= 1 && value <= 65_535) return value;
  throw new Error(`${name} must be a port number from 1 to 65535.`);
}
