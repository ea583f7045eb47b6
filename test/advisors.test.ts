import { expect, inject, test } from 'vitest';
import { supabase } from '../dev/database.ts';

test('the advisors of Supabase find nothing to say about the schemas', async () => {
  const { databaseUrl } = inject('stack');
  const findings = JSON.parse(
    await supabase(['db', 'advisors', `--remote=${databaseUrl}`, '--type', 'all', '--level', 'info']),
  ) as { name: string; detail: string }[];
  // Indexes of a new database have had no chance to be used.
  expect(findings.filter(({ name }) => name !== 'unused_index').map(({ detail }) => detail)).toEqual([]);
  expect(findings.some(({ name }) => name === 'unused_index')).toBe(true);
});
