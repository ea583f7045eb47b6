import { CompiledQuery } from 'kysely';
import type { Database, RestConnection } from './rest-connection.ts';
import { restError } from './rest-errors.ts';

/** Row limit of a response, as in new projects. */
export const maxRows = 1000;

// Parameters that select a part of the result. Lite handles requests with one of them.
const shapingParameter = /^(select|columns|on_conflict|(.*\.)?(order|limit|offset|and|or))$/;
const filterValue =
  /^(not|(eq|[gl]te?|i?(like|match))(\((any|all)\))?|neq|cs|cd|ov|s[lr]|nx[rl]|adj|in|is(distinct)?|(pl|ph|w)?fts(\([^)]*\))?)\./;

/**
 * Calls a function with one value as PostgREST does, so that Postgres parses the arguments and serializes the result.
 * @param path path of the request, such as `/rpc/get_sound`
 * @returns undefined if Lite has to handle the request
 */
export async function callFunction(
  connection: RestConnection,
  request: Request,
  path: string,
): Promise<Response | undefined> {
  const name = /^\/rpc\/([^/]+)$/.exec(path)?.[1];
  const { searchParams } = new URL(request.url);
  if (name === undefined || !isPlain(request, searchParams)) return undefined;
  const isRead = request.method === 'GET';
  const [json, names] = isRead ? fromQuery(searchParams) : fromBody(await request.clone().text());
  const { functions = [] } = await connection.introspect({ useCache: true });
  const fitting = functions.filter(
    ({ schema, name: own, arg_names, arg_defaults, has_out_args, return_is_setof, return_type }) =>
      schema === 'public' &&
      own === name &&
      !(has_out_args || return_is_setof || return_type === 'void') &&
      arg_names.slice(0, arg_names.length - arg_defaults).every((arg) => names.includes(arg)) &&
      names.every((arg) => arg_names.includes(arg)),
  );
  const [called] = fitting;
  if (!called || fitting.length > 1) return undefined;
  const query = CompiledQuery.raw(statementOf(called, names, isRead), [json]);
  const run = async (db: Database) => {
    const [answer] = (await db.executeQuery<{ body: string }>(query)).rows as [{ body: string }];
    return new Response(answer.body, { headers: { 'Content-Type': 'application/json; charset=utf-8' } });
  };
  return connection.withContext(undefined, run, { rpc: { method: request.method, path, readOnly: isRead } });
}

function isPlain({ method, headers }: Request, query: URLSearchParams): boolean {
  const isShaped = [...query].some(([name, value]) => shapingParameter.test(name) || filterValue.test(value));
  const profile = headers.get(method === 'POST' ? 'content-profile' : 'accept-profile') ?? 'public';
  return (
    (method === 'POST' ? query.size === 0 : method === 'GET' && !isShaped) &&
    /^(application\/json|$)/.test(headers.get('content-type') ?? '') &&
    /^(\*\/\*|application\/json|$)/.test(headers.get('accept') ?? '') &&
    !headers.has('range') &&
    profile === 'public' &&
    /^(return=\w+)?$/.test(headers.get('prefer') ?? '')
  );
}

/** Returns the arguments as a JSON object of texts, and their names. */
function fromQuery(query: URLSearchParams): [json: string, names: string[]] {
  const texts = Object.fromEntries(query);
  return [JSON.stringify(texts), Object.keys(texts)];
}

/** Returns the arguments as sent, and their names. */
function fromBody(text: string): [json: string, names: string[]] {
  try {
    return [text || '{}', Object.keys(JSON.parse(text || '{}'))];
  } catch {
    throw restError(400, 'PGRST102', 'Empty or invalid json');
  }
}

type SqlFunction = NonNullable<Awaited<ReturnType<RestConnection['introspect']>>['functions']>[number];

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Returns SQL that calls a function with the arguments in `$1` and writes its result as JSON. */
function statementOf(called: SqlFunction, names: string[], areTexts: boolean): string {
  const args = called.arg_names
    .map((arg, i) => ({ arg, name: quoted(arg), type: called.arg_types[i] ?? '' }))
    .filter(({ arg }) => names.includes(arg));
  // Declare JSON arguments of a GET as text, because they are JSON strings here.
  const columns = args.map(({ name, type }) => `${name} ${areTexts && /^jsonb?$/.test(type) ? 'text' : type}`);
  const given = args.length > 0 ? ` from json_to_record($1::text::json) as given (${columns})` : '';
  const call = `public.${quoted(called.name)}(${args.map(({ name, type }) => `${name} => given.${name}::${type}`)})`;
  // Leave JSON as it is, because to_json would copy a megabyte of it again.
  const value = /^jsonb?$/.test(called.return_type) ? 'called.value' : 'to_json(called.value)';
  // Read $1 also without arguments, because the driver sends it.
  return `select coalesce(${value}, 'null')::text as body
    from (select ${call} as value, $1::text as sent${given}) as called`;
}
