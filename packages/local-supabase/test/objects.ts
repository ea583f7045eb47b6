import { expect, vi } from 'vitest';
import { timeoutMs } from '../../../test/support/timeout.ts';
import { test } from './supabase.ts';

/**
 * Gives a file the tables and functions that its tests call, and takes them away afterwards. Everybody may run the
 * functions; what may be done with a table, `objects` has to say.
 * @param prefix what all their names begin with, and no other file's
 * @param objects SQL that makes them in `public`
 */
export function makeObjects(prefix: string, objects: string): void {
  const removed = `
    do $$ declare name text; begin
      for name in select format('table %s', oid::regclass) from pg_class
          where relnamespace = 'public'::regnamespace and relkind = 'r' and starts_with(relname, '${prefix}')
        union all select format('function %s', oid::regprocedure) from pg_proc
          where pronamespace = 'public'::regnamespace and starts_with(proname, '${prefix}')
      loop execute 'drop ' || name; end loop;
    end $$;`;
  // Our migrations take from everybody the right to run what is made later, which Postgres gives by itself.
  const granted = `
    do $$ declare name regprocedure; begin
      for name in select oid from pg_proc
        where pronamespace = 'public'::regnamespace and starts_with(proname, '${prefix}')
      loop execute format('grant execute on function %s to anon, authenticated, service_role', name); end loop;
    end $$;`;
  const last = `create function public.${prefix}last() returns void language sql as '';`;
  test.beforeAll(async ({ supabase: { sql, rpc } }) => {
    // A run that was killed may have left its own.
    await sql.unsafe(removed + objects + last + granted);
    // The data API reads the schema anew a moment after it changed; all of this came at once.
    await vi.waitFor(async () => expect((await rpc(`${prefix}last`)).status).toBe(204), timeoutMs);
    return async () => {
      await sql.unsafe(removed);
    };
  });
}
