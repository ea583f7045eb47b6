import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { clientTypes, documentText } from '../dev/openapi.ts';
import { endpoints } from '../src/app.ts';

test('openapi.json is up to date with the endpoints; if not, run: npm run openapi', async () => {
  expect(await readFile('openapi.json', 'utf8')).toBe(documentText());
});

test('the generated client types are up to date with openapi.json; if not, run: npm run openapi', async () => {
  expect(await readFile('client/src/document.types.ts', 'utf8')).toBe(await clientTypes());
});

test('openapi.json passes the recommended rules of Redocly without a warning', () => {
  const { stdout, stderr } = spawnSync('redocly', ['lint', 'openapi.json', '--format=json'], {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  const { totals, problems } = JSON.parse(stdout || `{"problems": ${JSON.stringify(stderr)}}`);
  expect(problems).toEqual([]);
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
});

/** Where a schema has an object or an enum that is no component of its own: generators make up a name for it. */
function nameless(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here = 'properties' in schema || 'enum' in schema ? [at] : [];
  return [...here, ...namelessWithin(schema, at)];
}

const namelessWithin = (schema: object, at: string): string[] =>
  Object.entries(schema).flatMap(([key, part]) => nameless(part, `${at}.${key}`));

test('every body, and every object and enum in it, has a name, which a generated client calls it by', () => {
  const { paths, components } = JSON.parse(documentText());
  const schemas = Object.entries<object>(components.schemas);
  expect([
    ...nameless(paths, 'paths'),
    ...nameless(components.responses, 'responses'),
    ...schemas.flatMap(([name, schema]) => namelessWithin(schema, name)),
  ]).toEqual([]);
});

test.for(endpoints.filter(({ body }) => body))(
  'the example of $operation is accepted',
  ({ path, method, body }) => {
    const { paths, components } = JSON.parse(documentText());
    const { $ref } = paths[path][method].requestBody.content['application/json'].schema;
    const { properties } = components.schemas[$ref.split('/').at(-1)];
    const example = Object.fromEntries(
      Object.entries<{ examples: unknown[] }>(properties).map(([name, { examples }]) => [name, examples[0]]),
    );
    expect(body?.safeParse(example).error).toBeUndefined();
  },
);
