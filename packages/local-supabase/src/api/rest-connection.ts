import { AsyncLocalStorage } from 'node:async_hooks';
import type { AnyAST, ConnectionContextOptions, VarsContext } from '@supabase/lite';
import { PostgresConnection } from '@supabase/lite/postgres';
import { HTTPException } from 'hono/http-exception';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import { PostgresJSDialect } from 'kysely-postgres-js';
import type { Options, PostgresError, PostgresType } from 'postgres';
import { as } from '../database.ts';
import { superuserName } from '../postgres.ts';
import {
  isDatabaseError,
  isLostConnection,
  isOfClosedConnection,
  lostConnection,
  mapDatabaseError,
} from './rest-errors.ts';

type Types = Record<string, PostgresType>;
export type Database = PostgresConnection['kysely'];

/** Returns driver settings with which Lite reads and writes values as the real services do. */
export function driverOptions(): Options<Types> {
  // Keep strings, because Lite passes JSON as text, which must not be encoded twice.
  const serialize = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const time = (text: string) => text.replace(' ', 'T').replace(/\+00$/, 'Z');
  return {
    onnotice() {},
    // Reconnect after 0.1 s instead of the driver's default of up to 20 s.
    backoff: () => 0.1,
    types: {
      json: { to: 114, from: [114], serialize, parse: JSON.parse },
      jsonb: { to: 3802, from: [3802], serialize, parse: JSON.parse },
      timestamptz: { to: 1184, from: [1184], serialize: String, parse: time },
    },
  };
}

/** Settings of a transaction: the caller, and the request that functions can read. */
type Settings = Record<'role' | 'request.path' | 'request.jwt.claims', string> & Record<string, string>;

/** Settings of the current data request. */
export const requestSettings = new AsyncLocalStorage<Settings>();

/**
 * Connection of Lite for data and storage. It reads the system catalogue as the superuser, but runs requests as
 * PostgREST does: as `authenticator`, in one transaction, with the caller's role, claims and time limit.
 */
export class RestConnection extends PostgresConnection {
  readonly #requests: PostgresConnection;
  /** Number of closed connections in the pool that no request has used since. */
  #lost = 0;
  /** Number of changes of the schema. */
  #changes = 0;

  constructor(databaseUrl: string) {
    const postgresOptions = driverOptions();
    super({ url: as(superuserName, databaseUrl), postgresOptions });
    const onclose = () => {
      this.#lost += 1;
    };
    this.#requests = new PostgresConnection({
      url: as('authenticator', databaseUrl),
      postgresOptions: { ...postgresOptions, max_lifetime: null, onclose },
    });
  }

  /** Reads the system catalogue again after each change. A standby does not notify about changes. */
  async watchSchema(): Promise<void> {
    const listening = this.driver.listen('pgrst', () => {
      this.#changes += 1;
      void this.clearSchemaCache();
    });
    await listening.catch((error: PostgresError) => {
      if (error.code !== '25006') throw error;
    });
  }

  /** Reads the schema until it has not changed meanwhile, because Lite would keep the former one. */
  override async introspect(options?: Parameters<PostgresConnection['introspect']>[0]) {
    for (;;) {
      const changes = this.#changes;
      const schema = await super.introspect(options);
      if (changes === this.#changes) return schema;
      await this.clearSchemaCache();
    }
  }

  /** Converts a database error of a data request into a Response, because Lite would log and misinterpret it. */
  override async withContext<T>(
    vars: VarsContext | undefined,
    run: (db: Database) => Promise<T>,
    { transaction, forceRollback, rpc }: ConnectionContextOptions = {},
  ): Promise<T> {
    const request = requestSettings.getStore();
    const settings = request ?? storageSettings(vars);
    if (transaction) {
      await apply(settings, transaction);
      return run(transaction);
    }
    try {
      return await this.#transaction(async (db) => {
        await apply(settings, db);
        if (rpc?.readOnly) await sql`set local transaction_read_only = on`.execute(db);
        const result = await run(request ? writingJson(db) : db);
        if (forceRollback) await sql`rollback and chain`.execute(db);
        return result;
      });
    } catch (error) {
      const rejected = request && isDatabaseError(error) ? mapDatabaseError(error, settings.role) : error;
      if (rejected instanceof HTTPException) return rejected.getResponse() as T;
      throw error;
    }
  }

  /** Uses the driver's transaction, because Kysely's transaction never ends after a lost connection. */
  async #transaction<T>(run: (db: Database) => Promise<T>): Promise<T> {
    // Let a request fail for each closed connection, because PostgREST notices it only when a request uses it.
    if (this.#lost > 0 && requestSettings.getStore()) {
      this.#lost -= 1;
      throw lostConnection();
    }
    let hasBegun = false;
    try {
      const ended = this.#requests.driver.begin((driver) => {
        hasBegun = true;
        // Prepares statements as PostgREST does, because planning them again takes most of the time of a request.
        const unsafe = (query: string, parameters?: never[]) => driver.unsafe(query, parameters, { prepare: true });
        const reserved = { ...driver, unsafe, release() {} };
        const postgres = () => ({ reserve: () => Promise.resolve(reserved), end: () => Promise.resolve() });
        return run(new Kysely({ dialect: new PostgresJSDialect({ postgres }) })).catch((error) => {
          if (!isOfClosedConnection(error)) throw error;
          // Never settle, because begin() itself rejects. A rejection here makes the driver roll back a closed
          // connection and throw from a timer.
          return new Promise<never>(() => {});
        });
      });
      return (await ended) as T;
    } catch (error) {
      // Retry if the transaction did not begin, because `onclose` has already counted the loss of that connection.
      if (!hasBegun && isLostConnection(error)) return this.#transaction(run);
      // This request reports the loss, so do not fail another one for it.
      if (isOfClosedConnection(error)) this.#lost -= 1;
      throw error;
    }
  }

  /** Lets Postgres parse the values of written rows, as PostgREST does. */
  override async onPostgrestAST(ast: AnyAST): Promise<AnyAST> {
    const known = await super.onPostgrestAST(ast);
    const { from, schema = 'public', values, $meta: { columns, ...meta } = {} } = known;
    if (!from || !values) return known;
    const row = (given: object) => {
      const read = (name: string) =>
        sql`(json_populate_record(null::${sql.table(`${schema}.${from}`)}, ${JSON.stringify(given)}::text::json)).${sql.ref(name)}`;
      return Object.fromEntries((columns ?? Object.keys(given)).map((name) => [name, read(name)]));
    };
    return { ...known, $meta: meta, values: Array.isArray(values) ? values.map(row) : row(values) };
  }

  override async close(): Promise<void> {
    // End after 1 s, because the driver would otherwise never finish with a lost connection.
    await Promise.all([super.close(), this.#requests.driver.end({ timeout: 1 })]);
  }
}

function storageSettings(vars: VarsContext | undefined): Settings {
  const { role = 'anon', jwt } = (vars?.['auth'] ?? {}) as { role?: string; jwt?: object | null };
  const { operation = '' } = (vars?.['storage'] ?? {}) as { operation?: string };
  const claims = JSON.stringify({ ...jwt, role });
  return { role, 'request.path': '', 'request.jwt.claims': claims, 'storage.operation': operation };
}

/** Applies the settings and the time limit of the role or function. Only a volatile function may write. */
async function apply(settings: Settings, db: Database): Promise<void> {
  await sql`
    with called as (
      select * from pg_proc where pronamespace = 'public'::regnamespace
        and proname = substring(${settings['request.path']} from '^/rpc/(.*)')::name
    )
    select set_config('search_path', 'public, extensions', true)
    union all select set_config('transaction_read_only', 'on', true) from called having every(provolatile <> 'v')
    union all select set_config('statement_timeout', split_part(setting, '=', 2), true) from (
      select unnest(rolconfig) from pg_roles where rolname = ${settings.role}
      union all select unnest(proconfig) from called
    ) as configured (setting) where setting like 'statement_timeout=%'
    union all select set_config(key, value, true)
      from json_each_text(${JSON.stringify(settings)}::text::json)`.execute(db);
}

const { rawJSON } = JSON as unknown as { rawJSON: (number: string) => unknown };

// Keeps the digits of numbers, because doubles round some numbers and do not distinguish 1.50 from 1.5.
const exactly = (_: string, value: unknown, { source = '' }: { source?: string } = {}) =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

/** Lets Postgres serialize rows as JSON, as PostgREST does, because the driver supports few types. */
function writingJson(db: Database): Database {
  const reading = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      const rows = result.rows.map((row) => ('q_as_json' in row ? JSON.parse(String(row['q_as_json']), exactly) : row));
      return Promise.resolve({ ...result, rows });
    },
  });
  const executor = reading.getExecutor();
  const compile = executor.compileQuery.bind(executor);
  executor.compileQuery = (node, id): CompiledQuery<never> => {
    const compiled = compile(node, id) as CompiledQuery<never>;
    const hasRows = node.kind === 'SelectQueryNode' || ('returning' in node && node.returning);
    if (!hasRows) return compiled;
    return { ...compiled, sql: `with q as (${compiled.sql}) select row_to_json(q)::text as q_as_json from q` };
  };
  return reading;
}
