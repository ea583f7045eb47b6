import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';

const filesOf = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .trim()
    .split('\n');

/** Words that begin a fragment: a comment or a title begins with a verb or with the name of the thing. */
const fragment = /^(of|as|what|who|whom|whose|where|whether|how)\b/i;
const longestTitle = 90;

/** Names of the functions that declare a test, such as `test`, `it` and `testWithProject`. */
const declaresTest = /^(test|it|base)$|^testWith/;

/** Returns the text of a string or template, with `…` for each value in it; undefined for another expression. */
function textOf(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  return undefined;
}

/** Returns the name that a call like `test.for(rows)('title', …)` begins with. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootOf(node.expression);
  return '';
}

function titlesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && declaresTest.test(rootOf(node.expression))) {
      const title = node.arguments.length > 1 ? textOf(node.arguments[0]) : undefined;
      if (title !== undefined) titles.push(title);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

test('every test title is a complete statement of at most 90 characters', () => {
  const titles = filesOf('*.test.ts').flatMap((file) => titlesOf(file).map((title) => ({ file, title })));
  expect(titles.length).toBeGreaterThan(400);
  const wrong = titles.filter(
    ({ title }) =>
      title.length > longestTitle ||
      fragment.test(title) ||
      /^(is|are|was|were|that|which|also|and|or|but)\b/.test(title),
  );
  expect(wrong.slice(0, 20).map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
});

test('at most 2 % of the comment lines begin with a word that begins a fragment', () => {
  const lines = filesOf(
    'src/*.ts',
    'packages/*.ts',
    'tools/*.ts',
    'examples/*.ts',
    'test/*.ts',
    'supabase/schemas/*.sql',
  )
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => ({ file, line })),
    )
    .flatMap(({ file, line }) => {
      const [, text] = /^\s*(?:\/\/|\/\*\*?|\*|--)\s*([A-Za-z].*)/.exec(line) ?? [];
      return text === undefined ? [] : [{ file, text }];
    });
  const wrong = lines.filter(({ text }) => /^[A-Z]/.test(text) && fragment.test(text));
  expect(
    wrong.length / lines.length,
    `of ${lines.length} lines; the first:\n${wrong
      .slice(0, 20)
      .map(({ file, text }) => `${file}: ${text}`)
      .join('\n')}`,
  ).toBeLessThan(0.02);
});
