import { readdirSync, writeFileSync } from 'node:fs';
import { compareSchemas, type SchemaChanges } from './changes.ts';
import { projectFolder, type SchemaDatabases, startSchemaDatabases } from './databases.ts';

interface MigrationOptions {
  allowDataLoss?: boolean;
  /** The folder that holds `supabase/`. */
  project?: URL;
}

/**
 * Writes the migration that makes a migrated database equal to supabase/schemas.
 * @param name name of the change, such as `add_mood_to_sounds`
 * @returns a report
 * @throws if a schema file, a migration or the written migration fails, or data would be lost without `allowDataLoss`
 */
export async function writeMigration(
  name: string,
  { allowDataLoss = false, project = projectFolder }: MigrationOptions = {},
): Promise<string> {
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))
    throw new Error(
      'The name must consist of small letters, digits and underscores, such as: npm run migration -- add_mood_to_sounds',
    );
  const databases = await startSchemaDatabases(17, project);
  try {
    return await writeChanges(name, databases, { allowDataLoss, project });
  } finally {
    await databases.stop();
  }
}

/** Writes the migration from databases that were started from the same project; see writeMigration. */
export async function writeChanges(
  name: string,
  databases: SchemaDatabases,
  { allowDataLoss, project }: Required<MigrationOptions>,
): Promise<string> {
  const changes = await compareSchemas(databases);
  if (changes.statements.length === 0) return 'Nothing to do: the migrations make what supabase/schemas declares.';
  if (changes.losses.length > 0 && !allowDataLoss) throw new Error(rejection(name, changes.losses));
  const files = write(name, changes, new URL('supabase/migrations/', project));
  const proof = await prove(databases, changes, files);
  return `${files.join('\n')}: ${changes.summary}\n${proof}`;
}

const rejection = (name: string, losses: string[]) => `This would delete data:

${losses.map((statement) => `${statement};`).join('\n')}

To rename instead, write the migration by hand (alter table … rename column …).
To delete the data: npm run migration -- ${name} --allow-data-loss`;

function write(name: string, { files, summary }: SchemaChanges, folder: URL): string[] {
  return files.map((text) => {
    const file = `${nextVersion(folder)}_${name}.sql`;
    writeFileSync(new URL(file, folder), `-- ${summary} Made from supabase/schemas by npm run migration.\n\n${text}`);
    return `supabase/migrations/${file}`;
  });
}

/** Returns the time in UTC, but later than the last migration, because the CLI applies no older one. */
function nextVersion(folder: URL): string {
  const last = readdirSync(folder).toSorted().at(-1) ?? '';
  const lastTime = last.replace(/^(....)(..)(..)(..)(..)(..).*/, '$1-$2-$3T$4:$5:$6Z');
  const time = Math.max(Date.now(), (Date.parse(lastTime) || 0) + 1000);
  return new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
}

async function prove(databases: SchemaDatabases, changes: SchemaChanges, files: string[]): Promise<string> {
  const copy = await databases.fillCopy();
  const faults = await changes.prove(copy.databaseUrl);
  if (faults.length > 0)
    throw new Error(`${files.join(' and ')} does not work. Correct it by hand until npm test -- schemas passes, or delete it.

${faults.join('\n')}`);
  const samples = copy.missing.length === 0 ? 'filled with samples' : `without samples (${copy.missing.join(', ')})`;
  return `Tried on a copy, ${samples}: it has become what supabase/schemas declares, and kept its rows.`;
}
