import { readFile } from 'node:fs/promises';
import { generatedFiles } from 'sounds-dev/types';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

test('what is made from the migrations is up to date with them; if not, run: npm run types', async () => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  for (const [file, text] of Object.entries(await generatedFiles(databaseUrl)))
    expect(text, file).toBe(await readFile(file, 'utf8'));
});
