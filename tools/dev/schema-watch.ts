import { fileURLToPath } from 'node:url';
import { compareSchemas } from '@sounds-service/migration/changes';
import { projectFolder, startSchemaDatabases } from '@sounds-service/migration/databases';
import { type FSWatcher, watch } from 'chokidar';

/**
 * Compares the schema files with the migrations after each save.
 * @param warn called with the differences or the mistakes
 * @param project the folder that holds `supabase/`
 */
export function watchSchemas(warn: (line: string) => void, project = projectFolder): FSWatcher {
  let last = Promise.resolve();
  let waiting = false;
  const folder = fileURLToPath(new URL('supabase/schemas/', project));
  return watch(folder, { ignoreInitial: true }).on('all', () => {
    // A waiting comparison includes all files that are saved before it starts.
    if (waiting) return;
    waiting = true;
    last = last.then(async () => {
      waiting = false;
      try {
        const difference = await compare(project);
        if (difference) warn(difference);
      } catch (error) {
        warn(String(error instanceof Error ? error.message : error));
      }
    });
  });
}

async function compare(project: URL): Promise<string | undefined> {
  const databases = await startSchemaDatabases(17, project);
  try {
    const { statements, summary } = await compareSchemas(databases);
    if (statements.length === 0) return undefined;
    return `supabase/schemas is ahead of the migrations. ${summary} To write the migration: npm run migration -- name_of_the_change`;
  } finally {
    await databases.stop();
  }
}
