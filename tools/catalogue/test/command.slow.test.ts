import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { freePort } from '../../../test/support/ports.ts';
import { run } from '../../../test/support/processes.ts';
import { test } from '../../../test/support/test.ts';
import { startEmptyProject } from './empty-project.ts';
import { envOf, importFolder, importInto, makeFolder, soundsIn, type Target } from './folder.ts';
import { isUpload, startFaultyProxy } from './proxy.ts';

const { apiUrl, secretKey, publishableKey } = inject('stack');
const port = await freePort();
const nowhere = `http://127.0.0.1:${port}`;

test.for<[string, Target | (() => Promise<Target>), RegExp]>([
  ['the public key', { apiUrl, secretKey: publishableKey }, /^SUPABASE_SECRET_KEY is not a secret key/],
  ['no key', { apiUrl, secretKey: '' }, /^Set SUPABASE_SECRET_KEY as well, /],
  ['no URL', { apiUrl: '', secretKey }, /^Set SUPABASE_URL as well, /],
  ['an unused URL', { apiUrl: nowhere, secretKey }, /^Nothing answers at http:\S+ Check SUPABASE_URL/],
  ['no project', { apiUrl: '', secretKey: '', port }, /^Nothing answers at \S+ Start .* set SUPABASE_PORT/],
  ['no scheme', { apiUrl: 'localhost:1', secretKey }, /^SUPABASE_URL must be an address such as /],
  ['no host', { apiUrl: 'http://', secretKey }, /^SUPABASE_URL must be an address such as /],
  ['a password', { apiUrl: 'http://ada:hush@127.0.0.1:1', secretKey }, /^SUPABASE_URL must not (?!.*hush)/],
  ['a full project', () => startFaultyProxy(() => 402), /^The project has exceeded the quota of its plan\./],
  ['a page', () => startFaultyProxy(() => 200), /^This is not a Supabase project/],
  ['a paused project', () => startFaultyProxy(() => 540), /^http:\S+ answers with 540: .* is paused, full/],
  ['no migrations', () => startEmptyProject(17, 'bare'), /Apply the migrations: npx supabase db push$/],
])('an import with %s fails with a message that says what to correct', async ([, given, message]) => {
  const target = typeof given === 'function' ? await given() : given;
  const { code, stdout, stderr } = await importInto(target, await makeFolder({ 'a.wav': tone() }));
  expect([code, stdout]).toEqual([1, '']);
  // Ignore the error that the API without migrations prints.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('Error: '));
  expect(lines).toEqual([expect.stringMatching(message)]);
});

/** Starts an import in the terminal of util-linux's `script`. */
function startAtTerminal(folder: string, target: Target = inject('stack')) {
  const command = `exec '${process.execPath}' tools/catalogue/main.ts '${folder}'`;
  return run(['--quiet', '--return', '--command', command, '/dev/null'], envOf(target), 'script');
}

const ctrlC = '\x03';
const showCursor = '\x1b[?25h';

describe('at a terminal', { tags: ['script'] }, () => {
  // The proxy supports only plain HTTP.
  test.runIf(inject('stack').embedded)('an import asks only for confirmation, and shows a bar', async ({ sql }) => {
    const category = await addCategory(sql);
    const names = [`${category}/a.wav`, `${category}/b.wav`, `new ${category}/c.wav`];
    const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, tone()])));
    let uploads = 0;
    const proxy = await startFaultyProxy((request) =>
      isUpload(request) && ++uploads > 1 ? new Promise(() => {}) : undefined,
    );
    const command = startAtTerminal(folder, proxy);
    await command.until('Import? (yes/no) ');
    expect(command.output.stdout).toMatch(/\/c\.wav +No category has .* column "category" of sounds\.csv\./);
    expect(await soundsIn(sql, category)).toEqual([]);
    command.type('yes\r');
    await command.until('| 1 of 3 |');
    command.type(ctrlC);
    expect(await command.exited).toBe(1);
    // Uploads run concurrently, so any of the three may end first.
    expect(command.output.stdout).toMatch(/█+░* \d+% \| 1 of 3 \| \d+\.\d MB\/s \| \S+ left \| (new )?test-/);
    expect(command.output.stdout).toContain(showCursor);
    expect((await importFolder(folder)).stdout).toContain('2 new, 0 to update, 1 unchanged');
    expect(await soundsIn(sql, category)).toHaveLength(2);
  });

  test('Ctrl-C while an import reads recordings ends it, and shows the cursor again', async ({ sql }) => {
    const category = await addCategory(sql);
    const names = Array.from({ length: 30 }, (_, index) => `${category}/${index}.wav`);
    const command = startAtTerminal(await makeFolder(Object.fromEntries(names.map((name) => [name, tone()]))));
    await command.until(' of 30 recordings read');
    command.type(ctrlC);
    expect(await command.exited).toBe(130);
    expect(command.output.stdout).toContain(showCursor);
    expect(command.output.stdout).not.toContain('From ');
  });

  test.for([
    ['Ctrl-C', ctrlC, 130],
    ['Ctrl-D', '\x04', 0],
  ] as const)('%s instead of a confirmation imports nothing', async ([, answer, code], { sql }) => {
    const category = await addCategory(sql);
    const command = startAtTerminal(await makeFolder({ [`${category}/a.wav`]: tone() }));
    await command.until('Import? (yes/no) ');
    command.type(answer);
    expect(await command.exited).toBe(code);
    expect(await soundsIn(sql, category)).toEqual([]);
  });
});
