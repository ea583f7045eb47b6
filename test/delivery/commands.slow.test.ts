import { globSync, readFileSync } from 'node:fs';
import { supabase } from '@sounds-service/local-supabase/database';
import { expect, test } from 'vitest';
import { run } from '../support/processes.ts';

test.for([
  ['npm run dev', 'tools/dev/main.ts'],
  ['npm run -s id-token', 'tools/dev/id-token.ts'],
  ['npm run doctor', 'src/doctor/main.ts'],
  ['npm run import', 'tools/catalogue/main.ts'],
  ['npm run export', 'tools/catalogue/export/main.ts'],
  ['npm run report', 'tools/report/main.ts'],
  ['npm run bench', 'tools/bench/main.ts'],
] as const)('%s prints its usage for --help and for an unknown option', async ([command, file]) => {
  const [help, wrong] = [run([file, '--help']), run([file, '--hepl'])];
  expect([await help.exited, help.output.stderr]).toEqual([0, '']);
  expect(help.output.stdout).toMatch(new RegExp(`^Usage: ${command}\\b`));
  expect([await wrong.exited, wrong.output.stdout]).toEqual([1, '']);
  expect(wrong.output.stderr).toMatch(/--hepl[\s\S]*Usage: npm run/);
});

test.for(['tools/catalogue/main.ts', 'tools/catalogue/export/main.ts'])(
  '%s without a folder says that one is missing',
  async (file) => {
    const { exited, output } = run([file]);
    expect(await exited).toBe(1);
    expect(output.stderr).toMatch(/^Specify one folder\.\n\nUsage: /);
  },
);

/** Commands in pages and messages, such as "db push --remote". */
const commands = globSync(['*.md', 'docs/*.md', '{packages,tools}/*/README.md', 'src/doctor/*.ts'])
  .map((path) => readFileSync(path, 'utf8').replaceAll(/ \\\n +/g, ' '))
  .flatMap((text) => [...text.matchAll(/npx supabase ([a-z](?:[^`\n;()&.,]|[.,](?! ))*)/g)])
  .map(([, command = '']) => command.trim());

/**
 * Reads the flags of a command from the CLI's script for the fish shell, which has all commands.
 * @returns the descriptions of its own flags by their names, or undefined if there is no such command
 */
function flagsOf(command: string, script: string[]): Record<string, string> | undefined {
  const words = command.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const start = `complete -c supabase -n '${words.join('; and ')}`;
  if (!script.includes(`${start}' -f`)) return undefined;
  const lines = script.filter((line) => line.startsWith(`${start};`)).join('\n');
  return Object.fromEntries(
    [...lines.matchAll(/ -l (\S+).* -d '(.*)'/g)].map(([, name, text]) => [`--${name}`, text ?? '']),
  );
}

test('the pinned Supabase CLI accepts the commands of pages and messages', async () => {
  // Starts the CLI only twice, because each start takes more than a second.
  const [completions, help] = await Promise.all([supabase(['--completions', 'fish']), supabase(['--help'])]);
  const script = completions.split('\n');
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const name = /^(?:[a-z]+ ?)+/.exec(command)?.[0].trim() ?? '';
    const flags = flagsOf(name, script);
    expect(flags, name).toBeDefined();
    for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(`${Object.keys(flags ?? {})} ${help}`).toContain(flag);
    const isLocalByDefault = flags?.['--remote']?.startsWith('Target a remote ');
    if (isLocalByDefault) expect(command).toContain('--remote');
  }
});
