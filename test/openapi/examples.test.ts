import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { bearer } from '../support/api.ts';
import { signUp, test } from '../support/test.ts';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
}
interface Parameter {
  name: string;
  required?: boolean;
  schema?: Schema;
}

const { paths, components } = JSON.parse(JSON.stringify(openApiDocument(endpoints)));

const resolve = ({ $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : components.schemas[$ref.replace(/.*\//, '')];

/** Returns the value that the reference fills in for a schema. */
function exampleOf(given: Schema): unknown {
  const schema = resolve(given);
  if (schema.examples) return schema.examples[0];
  return schema.properties ? objectOf(schema.properties) : (schema.const ?? schema.enum?.[0]);
}

const objectOf = (properties: Record<string, Schema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]));

/** Statuses of operations that fail, because the document cannot contain a valid token, code or id of a session. */
const withoutSuccess: Record<string, number> = {
  refresh: 401,
  exchangeIdToken: 401,
  exchangeGoogleIdToken: 401,
  exchangeAppleIdToken: 401,
  verify: 401,
  adoptGuest: 401,
  endSession: 404,
  revokeApple: 400, // Apple is not set up
};

describe('a request with the values that the reference fills in', () => {
  test.for(endpoints)('$operation succeeds, or gets the documented error', async (endpoint, { api, sql, user }) => {
    const { operation, method, guard } = endpoint;
    const { parameters = [], requestBody } = paths[endpoint.path][method];
    await sql`
      insert into public.sounds (id, title) values ('50000000-0000-4000-8000-000000000001', 'Large Singing Bowl in C3')
      on conflict do nothing`;
    if (/^sign(Up|In)$/.test(operation)) await sql`delete from auth.users where email = 'ada@example.com'`;
    if (operation === 'signIn') await signUp(api, 'ada@example.com');
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, wanted) =>
      String(exampleOf(parameters.find(({ name }: Parameter) => name === wanted).schema)),
    );
    // Use a new session, because these operations may end it.
    const { access_token } = guard === 'user' ? await signUp(api) : user;
    const body = requestBody && exampleOf(requestBody.content['application/json'].schema);
    const { status } = await api[method](path).auth(access_token, bearer).send(body);
    const failure = withoutSuccess[operation];
    expect(status).toBe(failure ?? endpoint.status ?? 200);
  });

  test('the reference fills in neither optional parameters nor a new name of the customer', () => {
    const all = endpoints.flatMap(({ path, method }): Parameter[] => paths[path][method].parameters ?? []);
    expect(all.filter(({ required, schema }) => !required && schema?.examples)).toEqual([]);
    const { schema } = paths['/me/customer'].patch.requestBody.content['application/json'];
    expect(exampleOf(schema)).toEqual({ locale: 'de-AT', country: 'AT' });
  });

  test('every field of a body has an example that the service accepts', () => {
    for (const { path, method, body, operation } of endpoints.filter((endpoint) => endpoint.body)) {
      const schema = resolve(paths[path][method].requestBody.content['application/json'].schema);
      expect(body?.safeParse(objectOf(schema.properties ?? {})).error, operation).toBeUndefined();
    }
  });
});
