import { existsSync } from 'node:fs';

/** Adds to the environment what the `.env` of the current folder says, where there is one; what is set already stays. */
export function readEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile();
}
