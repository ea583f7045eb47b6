import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const MEGABYTE = 1024 * 1024;

/** What a new project takes, and as much again for Postgres to work with. */
export const NEEDED_MB = 100;

/** With less than that left, whatever fails has failed for lack of space. */
export const FULL_MB = 10;

/**
 * Says in a sentence that the disk of a folder, which may not be there yet, is full.
 * @param leastMb undefined is returned where so much is free
 */
export function diskProblem(folder: string, leastMb: number): string | undefined {
  let there = resolve(folder);
  while (!existsSync(there)) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  const freeMb = Math.floor((bavail * bsize) / MEGABYTE);
  if (freeMb >= leastMb) return undefined;
  return `The disk of ${folder} has ${freeMb} MB left, and npm run dev needs ${NEEDED_MB} MB: free some space, or set DEV_DATA_DIR to a folder on another disk.`;
}
