/** @module-tag git */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Returns the matches of a pattern in files of the repository. */
const find = (pattern: RegExp, ...files: string[]) =>
  execFileSync('git', ['ls-files', ...files], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(pattern)].map(({ groups }) => ({
        text: groups?.['text'] ?? '',
        at: `${file}: ${groups?.['text']}`,
      })),
    );

/** Matches words that begin a fragment. A comment or title begins with a verb or the name of its subject. */
const fragment = /^(of|as|what|who|whom|whose|where|whether|how)\b/i;

test('every test title is a complete statement of at most 90 characters', () => {
  // Matches the first of several arguments of test('…', …), testWith…('…', …) or test.for(…)('…', …).
  const declaration =
    /(?<!describe.*)(?:\b(?:test|it|base|testWith\w+)|\))\(\s*(?<quote>['"`])(?<text>(?:(?!\k<quote>).)+)\k<quote>,/g;
  const titles = find(declaration, '*.test.ts');
  expect(titles.length).toBeGreaterThan(400);
  const wrong = titles.filter(
    ({ text }) =>
      text.length > 90 || fragment.test(text) || /^(is|are|was|were|that|which|also|and|or|but)\b/.test(text),
  );
  expect(wrong.map(({ at }) => at)).toEqual([]);
});

test('at most 2 % of the comment lines begin with a word that begins a fragment', () => {
  const code = ['src', 'packages', 'tools', 'examples', 'test'].map((folder) => `${folder}/*.ts`);
  const comment = /^\s*(?:\/\/|\/\*\*?|\*|--)\s*(?<text>[A-Za-z].*)/gm;
  const lines = find(comment, ...code, 'supabase/schemas/*.sql');
  const wrong = lines.filter(({ text }) => /^[A-Z]/.test(text) && fragment.test(text)).map(({ at }) => at);
  expect(wrong.length / lines.length, wrong.join('\n')).toBeLessThan(0.02);
});
