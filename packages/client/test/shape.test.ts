import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAnswerTo } from '../src/shape.ts';

interface Schema {
  $ref?: string;
  type?: unknown;
  properties?: Record<string, Schema>;
}
interface Answer {
  content?: { 'application/json'?: { schema: Schema } };
}

const document = JSON.parse(readFileSync('openapi.json', 'utf8'));

function resolve<T extends { $ref?: string }>(found: T): T {
  const names = found.$ref?.split('/').slice(1);
  return names ? resolve(names.reduce((part, name) => part[name], document)) : found;
}

/** Makes the smallest value of a schema, as in an answer of the service. */
function exampleOf(schema: Schema): unknown {
  const { type, properties = {} } = resolve(schema);
  if (type === 'array') return [];
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, exampleOf(of)]));
  return type === 'boolean' ? true : 'a text';
}

/** Smallest answer of each operation of the document. */
const answers = new Map<string, { data?: object; sections?: object }>();
for (const [path, methods] of Object.entries<object>(document.paths))
  for (const [method, operation] of Object.entries<{ responses?: Record<string, Answer & Schema> }>(methods as never)) {
    const [, success] = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith('2')) ?? [];
    const schema = success && resolve(success).content?.['application/json']?.schema;
    if (schema) answers.set(`${method.toUpperCase()} ${path}`, exampleOf(schema) as object);
  }

const foreign = [null, [], {}, 'a text', 5, { status: 'down' }, { data: null }, { data: 5 }, { data: [null] }];

test('every operation takes the shape of its answer, and none that is foreign or of another kind', () => {
  expect(answers.size).toBeGreaterThan(30);
  for (const [operation, answer] of answers) {
    expect(isAnswerTo(operation, answer), operation).toBe(true);
    for (const body of foreign) expect(isAnswerTo(operation, body), `${operation} ${JSON.stringify(body)}`).toBe(false);
    const isList = (each: typeof answer) => Array.isArray(each.data ?? each.sections);
    const isChange = (each: typeof answer) => 'ok' in (each.data ?? {});
    for (const [other, body] of answers)
      if (isList(body) !== isList(answer) || (isChange(answer) && !isChange(body)))
        expect(isAnswerTo(operation, body), `${operation} ${other}`).toBe(false);
  }
});

test('a session begins or goes on only with both tokens', () => {
  const tokens = { access_token: 'a', refresh_token: 'r', user: { id: 'u' } };
  for (const operation of ['POST /auth/signin', 'POST /auth/verify', 'POST /auth/oauth/idp', 'POST /auth/refresh']) {
    expect(isAnswerTo(operation, { data: tokens })).toBe(true);
    expect(isAnswerTo(operation, { data: { ...tokens, refresh_token: undefined } })).toBe(false);
    expect(isAnswerTo(operation, { data: { ...tokens, access_token: undefined } })).toBe(false);
  }
});
