import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

/** Module of the client. */
export const client = resolve('packages/client/src/index.ts');

/** Writes the recipes of the README into a folder for one test: each block of code that begins with a file name. */
export function writeRecipes(): string {
  const folder = mkdtempSync(resolve('packages/client/test/recipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const readme = readFileSync('packages/client/README.md', 'utf8');
  for (const [, name = '', code = ''] of readme.matchAll(/```ts\n\/\/ (\S+\.ts)\n(.*?)```/gs))
    writeFileSync(
      join(folder, name),
      code.replace("'sounds-client/downloads'", `'${client.replace('index', 'downloads')}'`),
    );
  return folder;
}
