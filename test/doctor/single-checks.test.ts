import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { expect, inject, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { revocation } from '../../src/doctor/apple.ts';
import { parseArguments } from '../../src/doctor/arguments.ts';
import { redis, environment as variables } from '../../src/doctor/environment.ts';
import { readReplica } from '../../src/doctor/replica.ts';
import { createRun } from '../../src/doctor/run.ts';
import { appleEnv } from '../support/apple.ts';
import { startNetwork } from '../support/network.ts';
import { startRedis } from '../support/redis.ts';
import { environment } from '../support/server-process.ts';

/** Runs one check with these settings. Returns its result or its error. */
async function execute({ execute }: typeof redis, settings: Record<string, string> = {}, apple?: string) {
  const run = createRun(loadConfig({ ...environment(), ...settings }), null, apple);
  try {
    return await execute(run);
  } catch (error) {
    return error instanceof AggregateError ? error.errors.map(String).join('\n') : String(error);
  } finally {
    await run.close();
  }
}

test('the doctor rejects a gateway with a user or a password, and does not repeat it', () => {
  for (const gateway of ['https://ada:hunter2@api.example.com', 'https://:hunter2@api.example.com', 'hunter2'])
    expect(() => parseArguments(['--gateway', gateway])).toThrow(/^--gateway must (?!.*(ada|hunter2))/);
});

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

test('the doctor asks Apple for each client, and names the settings that it rejects', async () => {
  const apple = await startSmallApple();
  const diagnose = (changes = {}) => execute(revocation, { ...appleEnv(apple), ...changes }, apple.url);
  expect(await execute(revocation)).toContain('APPLE_TEAM_ID is not set');
  expect(await diagnose()).toBe('Apple accepts the key for com.example.sounds, com.example.web.');
  const other = await diagnose({ APPLE_CLIENT_IDS: 'com.example.sounds,com.example.other' });
  expect(other).toBe('Error: Apple does not accept the client com.example.other: invalid_client.');
  expect((await diagnose({ APPLE_KEY_ID: 'OTHERKEY90' })).split('\n')).toHaveLength(2);
  apple.close();
  expect(await diagnose()).toMatch(/^Error: It is unknown .* the client com.example.sounds: .*ECONNREFUSED/);
});
