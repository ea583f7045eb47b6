import { expect, inject, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { readReplica } from '../../src/doctor/replica.ts';
import { createRun } from '../../src/doctor/run.ts';
import { startNetwork } from '../support/network.ts';
import { environment } from '../support/server-process.ts';

test('the doctor says so when no replica answers reads', async () => {
  const diagnose = async (readUrl?: string) => {
    const env = { ...environment(), ...(readUrl && { SUPABASE_READ_URL: readUrl }) };
    const run = createRun(loadConfig(env), null);
    try {
      return await readReplica.execute(run);
    } catch (error) {
      return String(error);
    } finally {
      await run.close();
    }
  };
  expect(await diagnose()).toContain('SUPABASE_READ_URL is not set');
  expect(await diagnose('http://127.0.0.1:2')).toMatch(/does not answer: .*ECONNREFUSED/);
  expect(await diagnose(inject('stack').apiUrl)).toContain('leads to the primary instead of a replica');
  const behind = await startNetwork(inject('stack').apiUrl, () => ({ status: 200, body: '95.2' }));
  expect(await diagnose(behind.url)).toContain('It is 95 s behind');
  const old = await startNetwork(inject('stack').apiUrl, () => ({ status: 404, body: '{}' }));
  expect(await diagnose(old.url)).toContain('It does not have all migrations yet');
});
