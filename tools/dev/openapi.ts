import { writeFile } from 'node:fs/promises';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';

/** The copy of the document that the repository holds. */
export const documentText = () => `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;

// `npm run openapi`
if (import.meta.main) await writeFile(new URL('../../openapi.json', import.meta.url), documentText());
