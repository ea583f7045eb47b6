import { existsSync } from 'node:fs';

/**
 * Adds the variables of `.env` in the current folder, if any, to the environment. Keeps variables that are set. Exempts
 * this machine from the proxy of NODE_USE_ENV_PROXY.
 */
export function readEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile();
  const name = process.env['no_proxy'] === undefined ? 'NO_PROXY' : 'no_proxy';
  process.env[name] = [process.env[name], 'localhost', '127.0.0.1', '::1'].filter(Boolean).join(',');
}
