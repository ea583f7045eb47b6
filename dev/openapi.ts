import { writeFile } from 'node:fs/promises';
import openapiTypes, { astToString } from 'openapi-typescript';
import { endpoints } from '../src/app.ts';
import { openApiDocument } from '../src/openapi/document.ts';

/** The copy of the document that the repository holds. */
export const documentText = () => `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;

/** The types that a client in TypeScript is written with, as openapi-typescript makes them of the document. */
export async function clientTypes(): Promise<string> {
  return astToString(await openapiTypes(documentText()));
}

// `npm run openapi`
if (import.meta.main) {
  await writeFile(new URL('../openapi.json', import.meta.url), documentText());
  await writeFile(new URL('../client/src/document.types.ts', import.meta.url), await clientTypes());
}
