import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { databaseTypes } from '../dev/types.ts';

test('src/supabase/database.types.ts is up to date with the migrations; if not, run: npm run types', async () => {
  expect(await databaseTypes()).toBe(await readFile('src/supabase/database.types.ts', 'utf8'));
});
