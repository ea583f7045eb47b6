import type { ConnectionContextOptions, VarsContext } from '@supabase/lite';
import { PostgresConnection } from '@supabase/lite/postgres';
import { sql } from 'kysely';
import type { Options, PostgresType } from 'postgres';
import { as } from '../database.ts';
import { SUPERUSER } from '../postgres.ts';
import { isDatabaseError, restErrorResponse } from './rest-errors.ts';

type Types = Record<string, PostgresType>;
export type Database = PostgresConnection['kysely'];

/**
 * Driver settings under which Lite reads and writes values as the real services do.
 * @param zone how UTC is written: PostgREST says `+00:00`, Auth says `Z`
 */
export function driverOptions(zone: '+00:00' | 'Z'): Options<Types> {
  // Lite hands over JSON that is already text, which the driver would encode a second time.
  const serialize = (value: unknown) => (isJsonText(value) ? value : JSON.stringify(value));
  const json = { serialize, parse: JSON.parse };
  const asIs = (text: string) => text;
  return {
    onnotice() {},
    // Seconds; by default a database that was away for a while is left alone for up to twenty.
    backoff: () => 0.1,
    types: {
      json: { to: 114, from: [114], ...json },
      jsonb: { to: 3802, from: [3802], ...json },
      numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
      timestamp: { to: 1114, from: [1114], serialize: asIs, parse: (text: string) => text.replace(' ', 'T') },
      timestamptz: {
        to: 1184,
        from: [1184],
        serialize: asIs,
        parse: (text: string) => text.replace(' ', 'T').replace(/\+00$/, zone),
      },
    },
  };
}

function isJsonText(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Lite's connection for data and storage. It reads the catalogue as the superuser, but every request runs as on
 * PostgREST: signed in as `authenticator`, in one transaction, with the caller's role, claims and time limit.
 */
export class RestConnection extends PostgresConnection {
  readonly #requests: PostgresConnection;

  constructor(databaseUrl: string) {
    const postgresOptions = driverOptions('+00:00');
    super({ url: as(SUPERUSER, databaseUrl), postgresOptions });
    this.#requests = new PostgresConnection({ url: as('authenticator', databaseUrl), postgresOptions });
  }

  /** Re-reads the catalogue whenever the database says that it changed. */
  async watchSchema(): Promise<void> {
    await this.driver.listen('pgrst', () => void this.clearSchemaCache());
  }

  override async withContext<T>(
    vars: VarsContext | undefined,
    run: (db: Database) => Promise<T>,
    options: ConnectionContextOptions = {},
  ): Promise<T> {
    const { transaction, forceRollback, rpc } = options;
    if (transaction) {
      await applyContext(transaction, vars);
      return run(transaction);
    }
    const undo = new Undo<T>();
    try {
      return await this.#requests.kysely.transaction().execute(async (db) => {
        await applyContext(db, vars);
        if (rpc?.readOnly || (rpc && (await this.#onlyReads(rpc.path)))) {
          await sql`set local transaction_read_only = on`.execute(db);
        }
        const result = await run(db);
        if (!forceRollback) return result;
        undo.result = result;
        throw undo;
      });
    } catch (error) {
      if (error === undo) return undo.result as T;
      // Only data requests await a Response, and for them Lite would log every error and misread most.
      if (vars && !('storage' in vars) && isDatabaseError(error)) {
        return restErrorResponse(error, roleOf(vars) === 'anon') as T;
      }
      throw error;
    }
  }

  /** PostgREST calls functions that are not volatile in read-only transactions. */
  async #onlyReads(path: string): Promise<boolean> {
    const name = path.replace('/rpc/', '');
    const { functions = [] } = await this.introspect({ useCache: true });
    const called = functions.filter((one) => one.schema === 'public' && one.name === name);
    return called.length > 0 && called.every((one) => one.volatility !== 'v');
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.#requests.close()]);
  }
}

class Undo<T> extends Error {
  result: T | undefined;
}

type Claims = { role?: string; jwt?: Record<string, unknown> | null };

function roleOf(vars: VarsContext | undefined): string {
  return (vars?.['auth'] as Claims | undefined)?.role ?? 'anon';
}

async function applyContext(db: Database, vars: VarsContext | undefined): Promise<void> {
  const role = roleOf(vars);
  const claims = { ...(vars?.['auth'] as Claims | undefined)?.jwt, role };
  const operation = (vars?.['storage'] as { operation?: string } | undefined)?.operation ?? '';
  await sql`
    select set_config('search_path', 'public, extensions', true),
      set_config('request.jwt.claims', ${JSON.stringify(claims)}, true),
      set_config('storage.operation', ${operation}, true),
      set_config('role', ${role}, true),
      set_config('statement_timeout', coalesce(
        (select split_part(setting, '=', 2) from pg_roles, unnest(rolconfig) as setting
          where rolname = ${role} and setting like 'statement_timeout=%'),
        current_setting('statement_timeout')), true)`.execute(db);
}
