// Writes a call of every operation of the document, with all fields of its body, for the program in Kotlin.

interface Schema {
  $ref?: string;
  enum?: unknown[];
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
}
interface Operation {
  operationId: string;
  tags: [string];
  parameters?: { in?: string; name: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A call. `ids` are the names of its parameters in the path; `body` is JSON text, empty without a body. */
interface Call {
  name: string;
  tag: string;
  ids: string[];
  body: string;
}

/** Id in the examples of the document. */
const exampleId = '50000000-0000-4000-8000-000000000001';

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns the source text of a call. */
function sourceOfCall({ tag, name, ids, body }: Call, id: string) {
  const given = [...ids.map(() => `UUID.fromString("${id}")`), body && `body("""${body}""")`]
    .filter(Boolean)
    .join(', ');
  return `    show("${name}") { ${capital(tag)}Api(url).${name}(${given}) }`;
}

/** Ends the account and the session last, so that the other calls succeed. */
const order = ({ name, tag }: Call) => ['deleteAccount', 'signOut'].indexOf(name) * 2 + Number(tag === 'auth');

/** Lists a call of every operation. @param email address of the user @param id id of a sound, both for all bodies */
export function everyCall({ paths, components }: Document, email: string, id: string): Call[] {
  const nameOf = ({ $ref = '' }: Schema) => $ref.replace(/.*\//, '');
  const exampleOf = (given: Schema): unknown => {
    const schema = components.schemas[nameOf(given)] ?? given;
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      name === 'email' ? email : exampleOf(field),
    ]);
    if (fields.length > 0) return Object.fromEntries(fields);
    return schema.items ? [exampleOf(schema.items)] : (schema.enum ?? schema.examples)?.[0];
  };
  const calls = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId, tags: [tag], parameters = [], requestBody }) => {
      const ids = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const schema = requestBody?.content['application/json'].schema;
      const body = schema ? JSON.stringify(exampleOf(schema)).replaceAll(exampleId, id) : '';
      return { name: operationId, tag, ids, body };
    });
  return calls.sort((one, other) => order(one) - order(other));
}

/** Returns the source text of calls. @param id id of a sound in all paths */
export const sourceOf = (calls: Call[], id: string) => calls.map((call) => sourceOfCall(call, id)).join('\n');
