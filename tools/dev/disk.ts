import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const megabyte = 1024 * 1024;

/** Disk space of a new project, plus as much for Postgres to work with. */
export const neededMb = 100;

/** Below this, any failure is reported as a full disk. */
export const fullMb = 10;

/**
 * Checks the free space of a folder, which need not exist yet.
 * @param leastMb minimum free space
 * @returns an error message if there is less
 */
export function diskProblem(folder: string, leastMb: number): string | undefined {
  let there = resolve(folder);
  while (!existsSync(there)) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  const freeMb = Math.floor((bavail * bsize) / megabyte);
  if (freeMb >= leastMb) return undefined;
  return `The disk of ${folder} has ${freeMb} MB left, and npm run dev needs ${neededMb} MB: free some space, or set DEV_DATA_DIR to a folder on another disk.`;
}
