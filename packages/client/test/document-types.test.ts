import { readFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';

test('src/document.types.ts matches openapi.json (update: npm run types -w sounds-client)', async () => {
  const types = astToString(await openapiTS(new URL('../../../openapi.json', import.meta.url)));
  const written = await readFile(new URL('../src/document.types.ts', import.meta.url), 'utf8');
  expect(written.endsWith(types)).toBe(true);
});
