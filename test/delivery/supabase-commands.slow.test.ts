import { globSync, readFileSync } from 'node:fs';
import { supabase } from 'local-supabase/database';
import { expect, test } from 'vitest';

const pages = ['*.md', 'docs/*.md', '{packages,tools}/*/README.md', 'src/doctor/*.ts'];

/** Commands of pages and messages, such as "db push --remote". */
const commands = new Set(
  globSync(pages)
    .map((path) => readFileSync(path, 'utf8').replaceAll(/ \\\n +/g, ' '))
    .flatMap((text) => [...text.matchAll(/npx supabase ([a-z](?:[^`\n;()&.,]|[.,](?! ))*)/g)])
    .map(([, command = '']) => command.trim()),
);

test.for([...commands])('the pinned Supabase CLI accepts npx supabase %s', async (command) => {
  const [, name = ''] = /^((?:[a-z]+ ?)+)/.exec(command) ?? [];
  const help = await supabase([...name.trim().split(' '), '--help']);
  expect(help).toContain(`supabase ${name.trim()} [`);
  for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(help).toContain(flag);
  if (help.includes('Local by default')) expect(command).toContain('--remote');
});
