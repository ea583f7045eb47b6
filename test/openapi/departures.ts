import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';

type Json = { [key: string]: Json } & { $ref?: string };

/** Allows only the fields that the document names, in its order. Apps accept others and any order. */
function close(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if ('properties' in schema)
    Object.assign(schema, {
      additionalProperties: false,
      keysInOrder: Object.keys(schema.properties as object),
    });
  for (const part of Object.values(schema)) close(part);
}

const document: Json = JSON.parse(JSON.stringify(openApiDocument(endpoints)));
close(document);
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

const pointer = (...keys: string[]) =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns the part of the document at a JSON pointer, and the pointer behind its references. */
function lookUp(at: string): { part: Json | undefined; at: string } {
  const keys = at.split('/').slice(1);
  let part: Json | undefined = document;
  for (const key of keys) part = part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  return part?.$ref === undefined ? { part, at } : lookUp(part.$ref.slice(1));
}

/** Returns the path of the document that matches the path of a request. */
function templateOf(path: string): string | undefined {
  return Object.keys(document['paths'] ?? {}).find((template) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(path),
  );
}

/** Returns how the headers of a response depart from those that the document lists. */
function headerDepartures(listed: string, sent: Record<string, string>): string[] {
  return Object.keys(lookUp(listed).part ?? {}).flatMap((header) => {
    const { part, at } = lookUp(listed + pointer(header));
    const value = sent[header.toLowerCase()];
    if (value === undefined) return part?.['required'] ? [`lacks the header ${header}`] : [];
    const words: unknown = lookUp(`${at}/schema`).part?.['enum'];
    return Array.isArray(words) && !words.includes(value) ? [`the header ${header} is ${value}`] : [];
  });
}

/**
 * Returns how a response departs from the document; nothing for an operation that the document does not have.
 * @param path below the server's address, without a query
 * @param answer with header names in lower case; the body is undefined when there is none
 */
export function departures(
  method: string,
  path: string,
  answer: { status: number; headers: Record<string, string>; body: unknown },
): string[] {
  const template = templateOf(path);
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  if (template === undefined || !lookUp(pointer('paths', template, verb)).part) return [];
  const name = `${method} ${template} ${answer.status}`;

  const { part: response, at } = lookUp(pointer('paths', template, verb, 'responses', `${answer.status}`));
  if (response === undefined) return [`${name}: no such status`];
  const wrongHeaders = headerDepartures(`${at}/headers`, answer.headers).map((fault) => `${name}: ${fault}`);

  const bodyExpected = response['content'] !== undefined && method !== 'HEAD';
  if (bodyExpected !== (answer.body !== undefined)) {
    return [...wrongHeaders, `${name}: ${bodyExpected ? 'lacks its body' : 'has a body'}`];
  }
  if (!bodyExpected) return wrongHeaders;
  const schema = `document#${at}${pointer('content', 'application/json', 'schema')}`;
  const validate = ajv.getSchema(schema) ?? ajv.compile({ $ref: schema });
  validate(answer.body);
  const wrong = (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${name}: body${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return [...wrongHeaders, ...wrong];
}
