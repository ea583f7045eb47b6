import { rm } from 'node:fs/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, run, startDev } from '../../../test/support/processes.ts';

describe.runIf(inject('stack').embedded)('npm run dev -- --empty', () => {
  let env: Awaited<ReturnType<typeof devEnvironment>>;

  beforeAll(async () => {
    env = await devEnvironment(await preparedFolder());
  });

  afterAll(() => rm(env.DEV_DATA_DIR, { recursive: true }));

  test('rejects a catalogue with samples, and names the command that deletes it', async () => {
    const filled = await startDev(env);
    filled.kill('SIGINT');
    await filled.exited;
    const rejected = run(['tools/dev/main.ts', '--empty'], env);
    expect([await rejected.exited, rejected.output.stderr]).toEqual([
      1,
      'The catalogue has the samples. To forget all data: npm run dev -- --fresh --empty\n',
    ]);
  });

  test('omits the samples, also at later starts, but not the demo account', async () => {
    for (const args of [['--fresh', '--empty'], []]) {
      const dev = await startDev(env, ...args);
      expect(dev.output.stdout).toContain('The catalogue has no samples');
      const sql = postgres(`postgresql://postgres:postgres@127.0.0.1:${env.SUPABASE_DB_PORT}/postgres`);
      const [counts] = await sql`
        select (select count(*)::int from public.sounds) as sounds, (select count(*)::int from public.categories) as categories,
          (select count(*)::int from storage.objects) as files, (select count(*)::int from auth.users) as users`;
      await sql.end();
      expect(counts, args[0]).toEqual({ sounds: 0, categories: 0, files: 0, users: 1 });
      dev.kill('SIGINT');
      await dev.exited;
    }
  });
});
