import { writeFile } from 'node:fs/promises';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { apiPage } from './api-page.ts';

export const documentText = () => `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;

/** Returns the files that `npm run openapi` writes, by their paths. */
export const generatedFiles = () => ({
  'openapi.json': documentText(),
  'docs/api.md': apiPage(endpoints),
});

if (import.meta.main) {
  for (const [path, text] of Object.entries(generatedFiles()))
    await writeFile(new URL(`../../${path}`, import.meta.url), text);
}
