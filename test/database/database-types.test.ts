import { readFile } from 'node:fs/promises';
import { databaseTypes } from 'sounds-dev/types';
import { expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

test('src/supabase/database.types.ts is what npm run types writes', async () => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  expect(await databaseTypes(databaseUrl)).toBe(await readFile('src/supabase/database.types.ts', 'utf8'));
});
