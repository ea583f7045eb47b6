import { expect, inject, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { redis, environment as variables } from '../../src/doctor/environment.ts';
import { readReplica } from '../../src/doctor/replica.ts';
import { createRun } from '../../src/doctor/run.ts';
import { startNetwork } from '../support/network.ts';
import { startRedis } from '../support/redis.ts';
import { environment } from '../support/server-process.ts';

/** Runs one check with these settings. Returns its result or its error. */
async function execute({ execute }: typeof redis, settings: Record<string, string> = {}) {
  const run = createRun(loadConfig({ ...environment(), ...settings }), null);
  try {
    return await execute(run);
  } catch (error) {
    return String(error);
  } finally {
    await run.close();
  }
}

test('the doctor accepts a Redis that answers', { tags: ['redis'] }, async () => {
  const { url, stop } = await startRedis();
  expect(await execute(redis, { REDIS_URL: url })).toBe('It counts the limits.');
  await stop();
});

test('the doctor warns of legacy keys', async () => {
  const keyOf = (role: string) =>
    `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ role })).toString('base64url')}.x`;
  const run = createRun(
    loadConfig({
      ...environment(),
      SUPABASE_PUBLISHABLE_KEY: keyOf('anon'),
      SUPABASE_SECRET_KEY: keyOf('service_role'),
    }),
    null,
  );
  const error = await Promise.try(() => variables.execute(run)).catch((thrown: AggregateError) => thrown);
  expect((error as AggregateError).errors.map(String)).toEqual([
    'Error: SUPABASE_PUBLISHABLE_KEY is a legacy key. Supabase removes these at the end of 2026.',
    'Error: SUPABASE_SECRET_KEY is a legacy key. Supabase removes these at the end of 2026.',
  ]);
  await run.close();
});

test('the doctor reports that no replica answers reads', async () => {
  const diagnose = (url?: string) => execute(readReplica, url ? { SUPABASE_READ_URL: url } : {});
  expect(await diagnose()).toContain('SUPABASE_READ_URL is not set');
  expect(await diagnose('http://127.0.0.1:2')).toMatch(/does not answer: .*ECONNREFUSED/);
  expect(await diagnose(inject('stack').apiUrl)).toContain('leads to the primary instead of a replica');
  const behind = await startNetwork(inject('stack').apiUrl, () => ({ status: 200, body: '95.2' }));
  expect(await diagnose(behind.url)).toContain('It is 95 s behind');
  const old = await startNetwork(inject('stack').apiUrl, () => ({ status: 404, body: '{}' }));
  expect(await diagnose(old.url)).toContain('It does not have all migrations yet');
});
