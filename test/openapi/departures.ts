import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';

type Part = { [key: string]: Part } & { $ref?: string; enum?: unknown[]; required?: boolean };

/** Allows only the fields of the document, in its order. (Apps accept other fields and any order.) */
function close(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if ('properties' in schema) {
    const keysInOrder = Object.keys(schema.properties as object);
    Object.assign(schema, { additionalProperties: false, keysInOrder });
  }
  for (const part of Object.values(schema)) close(part);
}

// Make references absolute, so that each schema can be compiled separately.
const text = JSON.stringify(openApiDocument(endpoints)).replaceAll('"#/', '"document#/');
const document: Part = JSON.parse(text);
close(document);
// Allow other keys in these settings, because operators may add some.
delete document['components']?.['schemas']?.['AppSettings']?.['additionalProperties'];
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });
ajv.addKeyword({
  keyword: 'keysInOrder',
  type: 'object',
  validate: (keys: string[], value: object) => {
    const known = Object.keys(value).filter((key) => keys.includes(key));
    return keys.filter((key) => key in value).join() === known.join();
  },
  error: { message: 'must have its keys in the order of the document' },
});
ajv.addSchema(document, 'document');

/** Returns the part of the document that a reference points to. */
function resolve(part: Part | undefined): Part | undefined {
  const keys = part?.$ref?.split('/').slice(1);
  return keys ? resolve(keys.reduce<Part | undefined>((at, key) => at?.[key], document)) : part;
}

function headerDepartures(response: Part, sent: Record<string, string>): string[] {
  return Object.entries<Part>(response['headers'] ?? {}).flatMap(([name, listed]) => {
    const header = resolve(listed);
    const value = sent[name.toLowerCase()];
    if (value === undefined) return name === 'X-Error-Field' ? [] : [`lacks the header ${name}`];
    const words = resolve(header?.['schema'])?.enum;
    return words && !words.includes(value) ? [`the header ${name} is ${value}`] : [];
  });
}

function bodyDepartures(schema: Part | undefined, body: unknown): string[] {
  if (schema === undefined) return body === undefined ? [] : ['has a body'];
  if (body === undefined) return ['lacks its body'];
  const validate = ajv.compile(schema);
  validate(body);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/**
 * Lists the differences between a response and the document. The list is empty for unknown operations.
 * @param path path below the server's address, without a query
 * @param answer response with header names in lower case, and an undefined body if there is none
 */
export function departures(
  method: string,
  path: string,
  { status, headers, body }: { status: number; headers: Record<string, string>; body: unknown },
): string[] {
  const paths = document['paths'] ?? {};
  const template = Object.keys(paths).find((each) => new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(path));
  const operation = paths[template ?? '']?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()];
  if (operation === undefined) return [];
  const response = resolve(operation['responses']?.[status]);
  const schema = method === 'HEAD' ? undefined : response?.['content']?.['application/json']?.['schema'];
  const faults = response
    ? [...headerDepartures(response, headers), ...bodyDepartures(schema, body)]
    : ['no such status'];
  return faults.map((fault) => `${method} ${template} ${status}: ${fault}`);
}
