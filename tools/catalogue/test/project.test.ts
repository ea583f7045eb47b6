import { expect, inject, test } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { freePort } from '../../../test/support/ports.ts';
import { startEmptyProject } from './empty-project.ts';
import { importInto, makeFolder, startImport, type Target } from './folder.ts';
import { startFaultyProxy } from './proxy.ts';

const { apiUrl, secretKey, publishableKey } = inject('stack');
const port = await freePort();
const nowhere = `http://127.0.0.1:${port}`;

test.for<[string, Target | (() => Promise<Target>), RegExp]>([
  ['an unknown key', { apiUrl, secretKey: 'sb_secret_x' }, /^SUPABASE_SECRET_KEY is not a secret key/],
  ['the public key', { apiUrl, secretKey: publishableKey }, /^SUPABASE_SECRET_KEY is not a secret key/],
  ['no key', { apiUrl, secretKey: '' }, /^Set SUPABASE_SECRET_KEY as well, /],
  ['no URL', { apiUrl: '', secretKey }, /^Set SUPABASE_URL as well, /],
  ['an unused URL', { apiUrl: nowhere, secretKey }, /^Nothing answers at http:\S+ Check SUPABASE_URL/],
  [
    'no scheme',
    { apiUrl: 'localhost:54321', secretKey },
    /^SUPABASE_URL is not a valid URL: localhost:54321$/,
  ],
  ['no host', { apiUrl: 'http://', secretKey }, /^SUPABASE_URL is not a valid URL: http:\/\/$/],
  ['a full project', () => startFaultyProxy(() => 402), /^The project has exceeded the quota of its plan\./],
  ['a page', () => startFaultyProxy(() => 200), /^This is not a Supabase project/],
  ['another API', () => startFaultyProxy(() => 404), /^This is not a Supabase project/],
  [
    'a paused one',
    () => startFaultyProxy(() => 540),
    /^http:\S+ answers with 540: the project is paused, full/,
  ],
  [
    'no migrations',
    () => startEmptyProject(17, 'bare'),
    /lacks tables .* Apply the migrations: npx supabase db push$/,
  ],
])('an import that is given %s says what to correct', async ([, given, message]) => {
  const target = typeof given === 'function' ? await given() : given;
  const { code, stdout, stderr } = await importInto(target, await makeFolder({ 'a.wav': tone() }));
  expect([code, stdout]).toEqual([1, '']);
  // The API without migrations prints an error of its own.
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('Error: '));
  expect(lines).toEqual([expect.stringMatching(message)]);
});

test('an import names npm run dev and SUPABASE_PORT if that project does not answer', async () => {
  const command = startImport(['.', '--yes'], { apiUrl: '', secretKey: '' }, [
    'env',
    `SUPABASE_PORT=${port}`,
  ]);
  expect(await command.exited).toBe(1);
  expect(command.output.stderr).toBe(
    `Nothing answers at ${nowhere}. Start npm run dev; if it runs on another port, set SUPABASE_PORT to that.\n`,
  );
});
