import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { clientTypes, documentText } from '../dev/openapi.ts';
import { endpoints } from '../src/app.ts';

test('openapi.json is up to date with the endpoints; if not, run: npm run openapi', async () => {
  expect(await readFile('openapi.json', 'utf8')).toBe(documentText());
});

test('the generated client types are up to date with openapi.json; if not, run: npm run openapi', async () => {
  expect(await readFile('test/support/client.types.ts', 'utf8')).toBe(await clientTypes());
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

test.for(endpoints.filter(({ body }) => body))(
  'the example of $operation is accepted',
  ({ path, method, body }) => {
    const { schema } = JSON.parse(documentText()).paths[path][method].requestBody.content['application/json'];
    const example = Object.fromEntries(
      Object.entries<{ examples: unknown[] }>(schema.properties).map(([name, { examples }]) => [
        name,
        examples[0],
      ]),
    );
    expect(body?.safeParse(example).error).toBeUndefined();
  },
);
