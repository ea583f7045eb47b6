import { expect, vi } from 'vitest';
import { test } from './supabase.ts';

/**
 * Creates tables and functions for the tests of a file, and drops them afterwards. Grants execution of the functions, but
 * no rights on the tables.
 * @param prefix of all names, which no other file uses
 * @param objects SQL that creates them in `public`
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
  // The migrations revoke the default right to execute new functions.
  const granted = `
    do $$ declare name regprocedure; begin
      for name in select oid from pg_proc
        where pronamespace = 'public'::regnamespace and starts_with(proname, '${prefix}')
      loop execute format('grant execute on function %s to anon, authenticated, service_role', name); end loop;
    end $$;`;
  const last = `create function public.${prefix}last() returns void language sql as '';`;
  test.beforeAll(async ({ supabase: { sql, rpc } }) => {
    // Drop the objects of a killed run.
    await sql.unsafe(removed + objects + last + granted);
    // Wait until the data API has read the schema again.
    await vi.waitFor(async () => expect((await rpc(`${prefix}last`)).status).toBe(204), 5_000);
    return async () => {
      await sql.unsafe(removed);
    };
  });
}
