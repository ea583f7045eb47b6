// Writes programs that call every operation of the document, with all fields of its body, through generated clients.

type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};
type Operation = {
  operationId: string;
  tags: [string];
  parameters?: { in?: string; name: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
};
export type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const nameOf = ({ $ref = '' }: Schema) => $ref.replace(/.*\//, '');
const id = '50000000-0000-4000-8000-000000000001';

/** Fields of an object as source text, in the order of the document. */
type Field = { name: string; value: string; isRequired: boolean };

type Call = { path: string; method: string; operation: string; tag: string; ids: string[]; body: string; type: string };

/** Functions that write source text in one language. */
type Language = {
  scalar: (value: unknown, schema: Schema, type: string) => string;
  list: (item: string, itemType: string) => string;
  object: (type: string, fields: Field[]) => string;
  call: (call: Call) => string;
  program: (calls: string[]) => string;
};

const kotlin: Language = {
  scalar: (value, { format, enum: words }, type) => {
    if (words) return `${type}.entries.first()`;
    if (format === 'uuid') return `UUID.fromString("${value}")`;
    if (format === 'uri') return `URI.create("${value}")`;
    return format === 'date-time' ? `OffsetDateTime.parse("${value}")` : JSON.stringify(value);
  },
  list: (item) => `listOf(${item})`,
  object: (type, fields) =>
    `${type}(${fields.map(({ name, value }) => `${name === 'entries' ? 'propertyEntries' : camel(name)} = ${value}`).join(', ')})`,
  call: ({ tag, operation, ids, body }) =>
    `${capital(tag)}Api(url).${operation}(${[...ids.map(() => `UUID.fromString("${id}")`), body].filter(Boolean).join(', ')})`,
  program: (calls) => `package sounds.client

import java.net.URI
import java.time.OffsetDateTime
import java.util.UUID
import sounds.client.apis.*
import sounds.client.models.*

fun callEvery(url: String) {
${calls.join('\n')}
}
`,
};

const python: Language = {
  scalar: (value) => (typeof value === 'boolean' ? capital(String(value)) : JSON.stringify(value)),
  list: (item) => `[${item}]`,
  object: (type, fields) => `sounds_api.${type}(${fields.map(({ name, value }) => `${name}=${value}`).join(', ')})`,
  call: ({ tag, operation, ids, body }) =>
    `lambda: sounds_api.${capital(tag)}Api(client).${snake(operation)}(${[...ids.map(() => `"${id}"`), body].filter(Boolean).join(', ')}),`,
  program: (calls) => `import sys
import sounds_api

url, email, password = sys.argv[1:4]
client = sounds_api.ApiClient(sounds_api.Configuration(host=url))
session = sounds_api.AuthApi(client).sign_in(sounds_api.SignInRequest(email=email, password=password)).data
client.configuration.access_token = session.access_token
answered = 0
for call in [
${calls.join('\n')}
]:
    try:
        call()
    except sounds_api.ApiException as error:
        assert error.data.error.code != "server_error", error
    answered += 1
print("answered", answered)
`,
};

const go: Language = {
  scalar: (value, { format, type }) => {
    if (Array.isArray(type)) return `*sounds.NewNullable${type[0] === 'number' ? 'Float64' : 'String'}(nil)`;
    return format === 'date-time' ? 'time.Now()' : JSON.stringify(value);
  },
  list: (item, itemType) => `[]${itemType ? `sounds.${itemType}` : 'string'}{${item}}`,
  object: (type, fields) => {
    const required = fields.filter(({ isRequired }) => isRequired);
    return `*sounds.New${type}(${required.map(({ value }) => value).join(', ')})`;
  },
  call: ({ tag, operation, ids, body, type }) =>
    `api.${capital(tag)}API.${capital(operation)}(${['ctx', ...ids.map(() => `"${id}"`)].join(', ')})${body && `.${type}(${body})`}.Execute()`,
  program: (calls) => `package main

import (
	"context"
	"time"

	sounds "github.com/example/sounds"
)

func callEvery(ctx context.Context, api *sounds.APIClient) {
${calls.join('\n')}
}
`,
};

const typescript: Language = {
  scalar: (value) => JSON.stringify(value),
  list: (item) => `[${item}]`,
  object: (_type, fields) => `{ ${fields.map(({ name, value }) => `${name}: ${value}`).join(', ')} }`,
  call: ({ path, method, ids, body }) => {
    const params = ids.length > 0 ? `params: { path: { ${ids.map((name) => `${name}: '${id}'`).join(', ')} } }` : '';
    const options = [params, body && `body: ${body}`].filter(Boolean).join(', ');
    return `await client.${method.toUpperCase()}('${path}'${options && `, { ${options} }`});`;
  },
  program: (calls) => `import type { Client } from 'openapi-fetch';
import type { paths } from './sounds.d.ts';

export async function callEvery(client: Client<paths>) {
${calls.join('\n')}
}
`,
};

const languages = { kotlin, python, go, typescript };

/** Returns the program of a language, and the number of operations that it calls. */
export function everyCall(language: keyof typeof languages, { paths, components }: Document) {
  const { scalar, list, object, call, program } = languages[language];

  const source = (given: Schema): string => {
    const type = nameOf(given);
    const schema = type ? (components.schemas[type] ?? {}) : given;
    if (schema.properties) {
      const fields = Object.entries(schema.properties).map(([name, field]) => {
        return { name, value: source(field), isRequired: schema.required?.includes(name) ?? false };
      });
      return object(type, fields);
    }
    if (schema.items) return list(source(schema.items), nameOf(schema.items));
    const [value = schema.enum?.[0] ?? 'signup'] = schema.examples ?? [];
    return scalar(value, schema, type);
  };

  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          operationId: operation,
          tags: [tag],
          parameters = [],
          requestBody,
        },
      ]) => {
        const ids = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
        const schema = requestBody?.content['application/json'].schema;
        const body = schema ? source(schema) : '';
        return { path, method, operation, tag, ids, body, type: schema ? nameOf(schema) : '' };
      },
    ),
  );
  // Ends the session and the account last, so that the other calls succeed.
  const order = ({ tag, operation }: Call) => (operation === 'deleteAccount' ? 2 : Number(tag === 'auth'));
  calls.sort((one, other) => order(one) - order(other));
  return { text: program(calls.map(call)), count: calls.length };
}
