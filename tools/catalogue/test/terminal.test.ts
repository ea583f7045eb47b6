import { spawnSync } from 'node:child_process';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { run } from '../../../test/support/processes.ts';
import { test } from '../../../test/support/test.ts';
import { importFolder, makeFolder, soundsIn } from './folder.ts';

// The command of util-linux; other systems have other options.
const script =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** Starts the import in a terminal. */
function startAtTerminal(folder: string) {
  const { apiUrl, secretKey } = inject('stack');
  const command = `exec '${process.execPath}' tools/catalogue/main.ts '${folder}'`;
  const env = { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEY: secretKey };
  return run(['--quiet', '--return', '--command', command, '/dev/null'], env, 'script');
}

const CTRL_C = '\x03';
const SHOW_CURSOR = '\x1b[?25h';

describe('at a terminal', () => {
  test.beforeEach(({ skip }) => skip(!script, 'Install util-linux, whose "script" is a terminal.'));

  test('the import asks for a category once, then for confirmation, and shows a progress bar', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const unknown = `new ${category}`;
    const folder = await makeFolder({ [`${unknown}/a.wav`]: tone(), [`${unknown}/deeper/b.wav`]: tone() });
    const command = startAtTerminal(folder);
    const question = `Which category should the 2 new sounds in "${unknown}" have? Type its slug or name, or press Enter for none: `;
    await command.until(question);
    const [, slugs = ''] =
      /There is no category "new [^"]+"\. There are: (.*)\.\r\n/.exec(command.output.stdout) ?? [];
    expect(slugs.split(', ')).toContain(category);
    command.type('nowhere\r');
    await command.until('There is no category "nowhere". There are: ');
    command.type(`Category ${category}\r`);
    await command.until('Import? [y/N] ');
    expect(await soundsIn(sql, category)).toEqual([]);
    command.type('y\r');
    expect(await command.exited).toBe(0);
    expect(command.output.stdout).toMatch(/█+░* \d+% \| \d of 2 \| \d+\.\d MB\/s \| \S+ left \| new/);
    expect(command.output.stdout).toContain('2 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.');
    expect(command.output.stdout).toContain(SHOW_CURSOR);
    expect(await soundsIn(sql, category)).toHaveLength(2);

    // Without new sounds it does not ask.
    const again = startAtTerminal(folder);
    expect(await again.exited).toBe(0);
    expect(again.output.stdout).toContain('0 new, 0 to update, 2 unchanged');
  });

  test('an interrupted import remembers the answer about a category', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`new ${category}/a.wav`]: tone(300) });
    const command = startAtTerminal(folder);
    await command.until('have? Type its slug');
    command.type(`${category}\r`);
    await command.until('Import? [y/N] ');
    command.type('y\r');
    await command.until('0 of 1');
    command.type(CTRL_C);
    await command.exited;
    const again = await importFolder(folder);
    expect(again.code).toBe(0);
    expect(await soundsIn(sql, category)).toHaveLength(1);
  });

  test.for([
    ['n\r', 0],
    ['\r', 0],
    [CTRL_C, 130],
    ['\x04', 0],
  ] as const)('the answer %j imports nothing', async ([answer, code], { sql }) => {
    const category = await addCategory(sql);
    const command = startAtTerminal(await makeFolder({ [`${category}/a.wav`]: tone() }));
    await command.until('Import? [y/N] ');
    command.type(answer);
    expect(await command.exited).toBe(code);
    expect(await soundsIn(sql, category)).toEqual([]);
  });
});
