import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { projectFolder } from './databases.ts';

const baselineFile = '20261122200000_baseline.sql';

/**
 * Writes the schema files, in the order of their names, into the baseline, without the comments between statements.
 * Allowed only before the first release, because it changes a migration that databases may have applied.
 * @param project the folder that holds `supabase/`
 * @throws if a later migration exists
 */
export function writeBaseline(project = projectFolder): string {
  const migrations = new URL('supabase/migrations/', project);
  const later = readdirSync(migrations).filter((file) => file.endsWith('.sql') && file !== baselineFile);
  if (later.length > 0)
    throw new Error(
      `The baseline cannot change after ${later.join(', ')}. Write a migration: npm run migration -- name_of_the_change`,
    );
  const schemas = new URL('supabase/schemas/', project);
  const parts = readdirSync(schemas)
    .toSorted()
    .map((file) => {
      const statements = readFileSync(new URL(file, schemas), 'utf8').replaceAll(/^--.*\n/gm, '');
      return `-- supabase/schemas/${file}\n\n${statements.trim()}\n`;
    });
  const header =
    '-- Generated from supabase/schemas, which has comments, by npm run migration -- --baseline. Do not edit.';
  writeFileSync(new URL(baselineFile, migrations), [`${header}\n`, ...parts].join('\n'));
  return `Wrote supabase/migrations/${baselineFile}.`;
}
