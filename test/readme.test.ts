import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COVER_RECIPES } from '../dev/seed/cover-recipes.ts';
import { endpoints } from '../src/app.ts';

const readme = readFileSync('README.md', 'utf8');
const guide = readFileSync('docs/apps.md', 'utf8');

test('every file and folder that the README names exists', () => {
  const paths = [
    ...`${readme}${guide}`.matchAll(/`((?:src|supabase|dev|test|docs)\/[\w./-]*|\.env\.example)`/g),
  ].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('every npm script that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const named = [...readme.matchAll(/npm (?:run )?(?:-s )?([a-z]+(?:-[a-z]+)*)/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => !['ci', 'run'].includes(name));
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test('the cover that the README names is in the seed', () => {
  const [, path] = /`covers\/(\S+\.jpg)`/.exec(readme) ?? [];
  expect(Object.keys(COVER_RECIPES)).toContain(path);
});

test('the endpoint table of the README lists exactly the endpoints there are', () => {
  const listed = [...readme.matchAll(/^\| `([A-Z]+ \/\S+)` \|/gm)].map(([, endpoint]) => endpoint);
  expect(listed).toEqual(endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
});

test('every endpoint that the guide for app developers names exists', () => {
  const named = [...guide.matchAll(/`((?:GET|POST|PATCH|DELETE) \/[\w/{}]+)`/g)].map(
    ([, endpoint]) => endpoint,
  );
  expect(named.length).toBeGreaterThan(10);
  const existing = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(named.filter((endpoint) => !existing.includes(endpoint ?? ''))).toEqual([]);
});
