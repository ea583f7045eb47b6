import { existsSync } from 'node:fs';

/** Adds the variables of `.env` in the current folder, if any, to the environment. Keeps variables that are set. */
export function readEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile();
}
