import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { run, untilGone } from '../../../test/support/processes.ts';
import { test } from '../../../test/support/test.ts';

// tools/dev/test tests other ways of ending, and folders and ports that are in use.

test.runIf(inject('stack').embedded)('PostgreSQL ends when the process that started it is killed', async () => {
  const dataDir = join(await preparedFolder(), 'postgres');
  const script = `
    const { startPostgres } = await import('@sounds-service/local-supabase/postgres');
    await startPostgres({ dataDir: '${dataDir}', port: 0 });
    console.log('started');`;
  const starter = run(['--input-type=module-typescript', '-e', script]);
  await starter.until('started');
  starter.kill('SIGKILL');
  await untilGone(dataDir);
});

test('letters of all scripts have trigrams, as on a hosted project', async ({ sql }) => {
  for (const word of ['night', 'ночной', 'νύχτα', 'موسيقى', 'रात'])
    expect((await sql`select extensions.show_trgm(${word}) as trigrams`)[0]?.['trigrams'], word).not.toEqual([]);
});
