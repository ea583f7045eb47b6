import { join } from 'node:path';
import { startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { startPostgres } from 'local-supabase/postgres';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { freePort } from '../../../test/support/ports.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';
import { test } from '../../../test/support/test.ts';
import { importFolder, makeFolder, startImport, type Target } from './folder.ts';
import { startFaultyProxy } from './proxy.ts';

const { embedded } = inject('stack');

/** Runs an import that fails. @returns its only line of output */
async function importError(target: Partial<Target>, folder?: string) {
  const command = startImport([folder ?? (await makeFolder({ 'a.wav': tone() })), '--yes'], {
    ...inject('stack'),
    ...target,
  });
  const [code, { stdout, stderr }] = [await command.exited, command.output];
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd()).not.toContain('\n');
  return stderr;
}

describe('an import that cannot begin', () => {
  test('names the variable that holds a wrong key, or is missing', async () => {
    const { publishableKey } = inject('stack');
    for (const secretKey of ['sb_secret_x', publishableKey])
      expect(await importError({ secretKey }), secretKey).toMatch(
        /^SUPABASE_SECRET_KEY is not a secret key[^\n]+\n$/,
      );
    expect(await importError({ secretKey: '' })).toMatch(/^Set SUPABASE_SECRET_KEY as well, [^\n]+\n$/);
    expect(await importError({ apiUrl: '' })).toMatch(/^Set SUPABASE_URL as well, [^\n]+\n$/);
  });

  test('says that nothing answers at an address, or that it is no URL', async () => {
    expect(await importError({ apiUrl: `http://127.0.0.1:${await freePort()}` })).toMatch(
      /^Nothing answers at http:\S+ Check SUPABASE_URL[^\n]+\n$/,
    );
    for (const apiUrl of ['nonsense', 'localhost:54321'])
      expect(await importError({ apiUrl })).toBe(`SUPABASE_URL is not a valid URL: ${apiUrl}\n`);
  });

  test('names npm run dev and SUPABASE_PORT if that project does not answer', async () => {
    const port = await freePort();
    const project = { apiUrl: '', secretKey: '' };
    const command = startImport(['.', '--yes'], project, ['env', `SUPABASE_PORT=${port}`]);
    expect(await command.exited).toBe(1);
    expect(command.output.stderr).toBe(
      `Nothing answers at http://127.0.0.1:${port}. Start npm run dev; if it runs on another port, set SUPABASE_PORT to that.\n`,
    );
  });

  test.runIf(embedded)('explains a project that is paused, full, or not of Supabase', async () => {
    for (const [status, sentence] of [
      [402, /^The project has exceeded the quota of its plan\./],
      [200, /^This is not a Supabase project/],
      [404, /^This is not a Supabase project/],
      [540, /^http:\S+ answers with 540: the project is paused, full or overloaded\./],
    ] as const)
      expect(await importError(await startFaultyProxy(() => status))).toMatch(sentence);
  });

  test('explains a missing folder', async () => {
    expect(await importError({}, '/nowhere/at/all')).toBe(
      'There is no folder /nowhere/at/all. Correct its path.\n',
    );
  });

  test.runIf(embedded)('names the command that applies missing migrations', async () => {
    const folder = await preparedFolder('bare');
    const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, durable: false });
    onTestFinished(server.stop);
    const { databaseUrl } = server;
    const api = await startApi({ databaseUrl, storageDir: join(folder, 'storage'), port: 0 });
    onTestFinished(api.stop);
    expect(await importError({ apiUrl: api.url, secretKey: LOCAL_KEYS.secretKey })).toBe(
      'The database lacks tables that the import needs. Apply the migrations: npx supabase db push\n',
    );
  });

  test.runIf(embedded)('names the address of large uploads if nothing answers there', async () => {
    const elsewhere = `http://127.0.0.1:${await freePort()}`;
    const redirect = { status: 201, headers: { location: `${elsewhere}/upload/1` } };
    const proxy = await startFaultyProxy(({ path }) =>
      path.startsWith('/storage/v1/upload/resumable') ? redirect : undefined,
    );
    const command = startImport([await makeFolder({ 'large.wav': tone(150) }), '--yes'], proxy);
    expect(await command.exited).toBe(1);
    expect(command.output.stderr).toBe(
      `${elsewhere} no longer answers. Check the network, then run the import again.\n1 sound left to import. Run the import again to continue.\n`,
    );
  });

  test('prints no secret key', async ({ sql }) => {
    const { secretKey } = inject('stack');
    const folder = await makeFolder({ [`${await addCategory(sql)}/a.wav`]: tone(), 'bad.mp3': 'bad' });
    const { stdout, stderr } = await importFolder(folder);
    expect(stdout + stderr).not.toContain(secretKey);
  });
});
