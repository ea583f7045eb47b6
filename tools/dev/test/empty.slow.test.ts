import { rm } from 'node:fs/promises';
import postgres from 'postgres';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { devEnvironment, run, startDev } from '../../../test/support/processes.ts';

describe.runIf(inject('stack').embedded)('npm run dev -- --empty', () => {
  test('omits the samples, also at later starts, but not the demo account', async () => {
    const folder = await preparedFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    const env = await devEnvironment(folder);
    for (const args of [['--empty'], []]) {
      const dev = await startDev(env, ...args);
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

  test('rejects a catalogue with samples, and names the command that deletes it', async () => {
    const folder = await preparedFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    const env = await devEnvironment(folder);
    const filled = await startDev(env);
    filled.kill('SIGINT');
    await filled.exited;
    const rejected = run(['tools/dev/main.ts', '--empty'], env);
    expect([await rejected.exited, rejected.output.stderr]).toEqual([
      1,
      'The catalogue has the samples. To forget all data: npm run dev -- --fresh --empty\n',
    ]);
    const dev = await startDev(env, '--fresh', '--empty');
    expect(dev.output.stdout).toContain('The catalogue has no samples');
    dev.kill('SIGINT');
    await dev.exited;
  });
});
