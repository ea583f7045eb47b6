import { existsSync } from 'node:fs';

/** Adds the variables of `.env` in the current folder, if any, to the environment. Variables that are set keep their values. */
export function readEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile();
}
