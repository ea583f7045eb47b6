import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { bearer } from '../support/api.ts';
import { signUp, test } from '../support/test.ts';

type Schema = {
  $ref?: string;
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
};
type Parameter = { name: string; required?: boolean; schema?: Schema };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
};

const document = JSON.parse(JSON.stringify(openApiDocument(endpoints)));

const resolve = ({ $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : document.components.schemas[$ref.replace(/.*\//, '')];

/** The value that the reference fills in. */
function exampleOf(given: Schema): unknown {
  const schema = resolve(given);
  if (schema.examples) return schema.examples[0];
  if (schema.oneOf?.[0]) return exampleOf(schema.oneOf[0]);
  const { properties } = schema;
  return properties
    ? Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each)]))
    : (schema.const ?? schema.enum?.[0]);
}

/** These return 401, because the document cannot contain a token or code that works. */
const withoutSuccess = [
  'refresh',
  'exchangeIdToken',
  'exchangeGoogleIdToken',
  'exchangeAppleIdToken',
  'verify',
];

describe('a request with the values that the reference fills in', () => {
  const all = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, ...operation })),
  );

  test.for(all)('$operationId succeeds, or gets the documented error', async (operation, { api, sql }) => {
    const { operationId, parameters = [], requestBody } = operation;
    const session = await signUp(api);
    await sql`
      insert into public.sounds (id, title) values ('50000000-0000-4000-8000-000000000001', 'Large Singing Bowl in C3')
      on conflict do nothing`;
    await sql`delete from auth.users where email = 'ada@example.com'`;
    if (operationId === 'signIn') await signUp(api, 'ada@example.com');
    const path = operation.path.replace(/\{(\w+)\}/g, (_, wanted) =>
      String(exampleOf(parameters.find(({ name }) => name === wanted)?.schema ?? {})),
    );
    const method = operation.method as 'get' | 'post' | 'patch' | 'delete';
    const request = api[method](path).auth(session.access_token, bearer);
    const body = requestBody && exampleOf(requestBody.content['application/json'].schema);
    const { status } = await (body ? request.send(body) : request);
    expect(status).toBeOneOf(withoutSuccess.includes(operationId) ? [401] : [200, 201]);
  });

  test('updateCustomer does not rename the customer', () => {
    const { schema } = document.paths['/me/customer'].patch.requestBody.content['application/json'];
    expect(exampleOf(schema)).toEqual({ locale: 'de-AT', country: 'AT' });
  });

  test.for(all)('$operationId leaves optional parameters empty', ({ parameters = [] }) => {
    const filled = parameters.filter(({ required, schema }) => !required && schema?.examples);
    expect(filled.map(({ name }) => name)).toEqual([]);
  });
});
