import type { Sql } from '../support/test.ts';

/** Deletes the record of a living account, which the database rejects while its trigger is on. */
export const removeCustomer = (sql: Sql, id: string) =>
  sql.begin(async (transaction) => {
    await transaction`alter table public.customers disable trigger customers_keep`;
    await transaction`delete from public.customers where id = ${id}`;
    await transaction`alter table public.customers enable trigger customers_keep`;
  });
