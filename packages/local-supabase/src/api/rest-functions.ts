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
 * Calls a function as PostgREST does, so that Postgres parses the arguments and serializes the result.
 * @param path path of the request, such as `/rpc/get_sound`
 * @returns undefined if Lite has to handle the request
 */
export async function callFunction(
  connection: RestConnection,
  request: Request,
  path: string,
): Promise<Response | undefined> {
  const name = /^\/rpc\/([^/]+)$/.exec(decodeURIComponent(path))?.[1];
  const { searchParams } = new URL(request.url);
  if (name === undefined || !isPlain(request, searchParams)) return undefined;
  const { method } = request;
  const isRead = method !== 'POST';
  const [json, names] = isRead ? fromQuery(searchParams) : fromBody(await request.clone().text());
  const { functions = [] } = await connection.introspect({ useCache: true });
  const fitting = functions.filter(
    ({ schema, name: own, arg_names, arg_types, arg_defaults, has_variadic }) =>
      schema === 'public' &&
      own === name &&
      !has_variadic &&
      arg_names.length === arg_types.length &&
      arg_names.slice(0, arg_names.length - arg_defaults).every((arg) => names.includes(arg)) &&
      names.every((arg) => arg_names.includes(arg)),
  );
  const [called] = fitting;
  if (!called || fitting.length > 1) return undefined;
  const query = CompiledQuery.raw(statementOf(called, names, isRead), [json]);
  const run = async (db: Database) => {
    const [answer] = (await db.executeQuery<Answer>(query)).rows as [Answer];
    return responseOf(answer, called.return_type === 'void', method === 'HEAD');
  };
  return connection.withContext(undefined, run, { rpc: { method, path, readOnly: isRead } });
}

interface Answer {
  body: string;
  count: number;
  status: string | null;
  headers: string | null;
}

function responseOf({ body, count, status, headers }: Answer, isVoid: boolean, isHead: boolean): Response {
  return new Response(isVoid || isHead ? null : body, {
    status: Number(status || (isVoid ? 204 : 200)),
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Range': `${count === 0 ? '*' : `0-${count - 1}`}/*`,
      ...Object.assign({}, ...JSON.parse(headers || '[]')),
    },
  });
}

function isPlain({ method, headers }: Request, query: URLSearchParams): boolean {
  const isShaped = [...query].some(([name, value]) => shapingParameter.test(name) || filterValue.test(value));
  const profile = headers.get(method === 'POST' ? 'content-profile' : 'accept-profile') ?? 'public';
  return (
    (method === 'POST' ? query.size === 0 : /^(GET|HEAD)$/.test(method) && !isShaped) &&
    /^(application\/json|$)/.test(headers.get('content-type') ?? '') &&
    /^(\*\/\*|application\/json|$)/.test(headers.get('accept') ?? '') &&
    !headers.has('range') &&
    profile === 'public' &&
    /^(return=\w+)?$/.test(headers.get('prefer') ?? '')
  );
}

/** Returns the arguments as a JSON object of texts, cut at the first NUL like C strings, and their names. */
function fromQuery(query: URLSearchParams): [json: string, names: string[]] {
  const texts = Object.fromEntries([...query].map(([name, value]) => [name, value.replace(/\0.*/s, '')]));
  return [JSON.stringify(texts), Object.keys(texts)];
}

/** Returns the arguments as sent, which are a JSON object or the first item of an array, and their names. */
function fromBody(text: string): [json: string, names: string[]] {
  let body: unknown;
  try {
    body = JSON.parse(text || '{}');
  } catch {
    throw restError(400, 'PGRST102', 'Empty or invalid json');
  }
  const rows = Array.isArray(body) ? body : [typeof body === 'object' && body ? body : {}];
  const keys = (row: unknown) => (typeof row === 'object' && row && !Array.isArray(row) ? Object.keys(row) : null);
  const names = keys(rows[0] ?? {});
  if (!names || rows.some((row) => String(keys(row)?.sort() ?? '[]') !== String(names.toSorted())))
    throw restError(400, 'PGRST102', 'All object keys must match');
  return [text, names];
}

type SqlFunction = NonNullable<Awaited<ReturnType<RestConnection['introspect']>>['functions']>[number];

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Returns SQL that calls a function with the arguments in `$1` and writes its result as JSON. */
function statementOf(called: SqlFunction, names: string[], areTexts: boolean): string {
  const { arg_names, arg_types, return_is_setof, return_type, return_typtype } = called;
  const args = arg_names
    // Make bit and character varying, because their default length is 1.
    .map((arg, i) => ({
      arg,
      name: quoted(arg),
      type: arg_types[i]?.replace(/^(bit|character)\b(?! v)/, '$1 varying') ?? '',
    }))
    .filter(({ arg }) => names.includes(arg));
  // Declare JSON arguments as text, because they are JSON strings here.
  const columns = args.map(({ name, type }) => `${name} ${areTexts && /^jsonb?$/.test(type) ? 'text' : type}`);
  const given = `json_to_record(case json_typeof(sent) when 'array' then sent -> 0 else sent end) as given (${columns})`;
  const source = `(select nullif($1::text, '')::json as sent) as request${args.length > 0 ? `, ${given}` : ''}`;
  const call = `public.${quoted(called.name)}(${args.map(({ name, type }) => `${name} => given.${name}::${type}`)})`;
  const isRow = called.has_out_args || return_typtype === 'c' || return_type === 'record';
  const rows = isRow
    ? `select returned.* from ${source}, ${call} as returned`
    : `select ${call} as value from ${source}`;
  const all = `json_agg(pgrst_row${isRow ? '' : '.value'})`;
  return `
    select (${return_is_setof ? `coalesce(${all}, '[]')` : `coalesce(${all} -> 0, 'null')`})::text as body, count(*)::int,
      current_setting('response.status', true) as status, current_setting('response.headers', true) as headers
    from (${rows} limit ${maxRows}) as pgrst_row`;
}
