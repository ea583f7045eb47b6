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

const byName = Map.groupBy(new Set(commands), (text) => /^(?:[a-z]+ ?)+/.exec(text)?.[0].trim() ?? '');

test.for([...byName])('the pinned Supabase CLI accepts npx supabase %s', async ([name, all]) => {
  const help = await supabase([...name.split(' '), '--help']);
  expect(help).toContain(`supabase ${name} [`);
  for (const command of all) {
    for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(help).toContain(flag);
    if (help.includes('Local by default')) expect(command).toContain('--remote');
  }
});
