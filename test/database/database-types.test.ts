import { readFile } from 'node:fs/promises';
import { databaseTypes } from 'sounds-dev/types';
import { expect, test } from 'vitest';

test('src/supabase/database.types.ts is up to date with the migrations; if not, run: npm run types', async () => {
  expect(await databaseTypes()).toBe(await readFile('src/supabase/database.types.ts', 'utf8'));
});
