import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { apiBase, descriptionOf, type Endpoint, errorsOf, fieldsOf, type Guard } from '../endpoint.ts';
import { statusOfCode } from '../errors.ts';
import { components, descriptionOfService, headerRefs, tags } from './parts.ts';

/** Security requirements of each guard; {} allows a request without a token. */
const securityOf: Record<Guard, Record<string, never[]>[]> = {
  none: [],
  optional: [{}, { bearer: [] }],
  bearer: [{ bearer: [] }],
  user: [{ bearer: [] }],
};

/** Adjusts schemas for client generators, for which plain JSON Schema is too vague or too strict. */
const forClients: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  const { type } = zodSchema._zod.def;
  // Allows fields to be added later.
  if (io === 'output' && type === 'object') delete jsonSchema.additionalProperties;
  if (type === 'number') {
    if (jsonSchema.type === 'number') jsonSchema.format = 'double';
    else {
      jsonSchema.format = 'int64';
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    }
  }
  // The pattern repeats the format.
  if (jsonSchema.format === 'uuid') delete jsonSchema.pattern;
  // Restores the examples of transformed inputs, which zod takes for examples of the output.
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (Array.isArray(examples)) jsonSchema.examples = examples;
};

interface Schema {
  anyOf?: [Schema, Schema];
  type?: string;
  enum?: unknown[];
}

/** Replaces { anyOf: [{ type }, { type: 'null' }] } by one schema of two types, which more generators understand. */
function mergeNulls(part: unknown) {
  if (typeof part !== 'object' || part === null) return;
  for (const inner of Object.values(part)) mergeNulls(inner);
  const { anyOf, ...rest }: Schema = part;
  const [value, none] = anyOf ?? [];
  if (value === undefined || none?.type !== 'null') return;
  const merged = { ...value, type: [value.type, 'null'], ...(value.enum && { enum: [...value.enum, null] }) };
  for (const key of Object.keys(part)) delete (part as Record<string, unknown>)[key];
  Object.assign(part, merged, rest);
}

function responsesOf(endpoint: Endpoint): ZodOpenApiResponsesObject {
  const { status, response, cache, download } = endpoint;
  const headers = headerRefs(...(cache ? ['ETag'] : []), ...(download === undefined ? [] : ['Content-Disposition']));
  return {
    [status ?? 200]: { description: 'Success.', headers, content: { 'application/json': { schema: response } } },
    ...(cache && {
      304: { description: 'The copy that `If-None-Match` identifies is still current. No body.', headers },
    }),
    ...Object.fromEntries(
      errorsOf(endpoint).map((code) => [statusOfCode[code], { $ref: `#/components/responses/${code}` }]),
    ),
  };
}

function operationOf(endpoint: Endpoint): ZodOpenApiOperationObject {
  const { path, operation, summary, guard, params, query, headers, body, cache } = endpoint;
  const requestParams = {
    ...(params && { path: params }),
    ...(query && { query }),
    ...(headers && { header: headers }),
  };
  return {
    tags: [path.split('/')[1] ?? ''],
    operationId: operation,
    summary,
    description: descriptionOf(endpoint),
    security: securityOf[guard],
    ...(Object.keys(requestParams).length > 0 && { requestParams }),
    ...(cache && { parameters: [{ $ref: '#/components/parameters/IfNoneMatch' }] }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: responsesOf(endpoint),
  };
}

/** Makes the OpenAPI 3.1 document of these endpoints, as plain JSON. */
export function openApiDocument(endpoints: readonly Endpoint[]) {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operationOf(endpoint) };
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Sounds Service',
        version: '1.0.0',
        description: descriptionOfService,
        contact: { name: 'The operator of this service' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      externalDocs: { description: 'The guide for app developers', url: `${apiBase}/docs/guide` },
      servers: [{ url: apiBase, description: 'The service that served this document.' }],
      tags,
      paths,
      components: components([...new Set(endpoints.flatMap(fieldsOf))].sort()),
    },
    { override: forClients },
  );
  mergeNulls(document);
  return document;
}

/** Returns the JSON of the document without enumerations, and without the patterns that some generators misread. */
export const openDocumentText = (document: OpenApiDocument) =>
  JSON.stringify(document, (key, value) => (key === 'enum' || key === 'pattern' ? undefined : value));

type OpenApiDocument = ReturnType<typeof openApiDocument>;
