import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, inject } from 'vitest';
import type { Session, Sql } from '../support/test.ts';

/**
 * Connections for concurrent statements, so that they run in the database at the same time. They close when they are
 * idle, because the files of a worker share them, and the first one must not end them for the others.
 */
export const pool = postgres(inject('stack').databaseUrl, { max: 12, idle_timeout: 1, onnotice() {} });

/** Runs a statement in a transaction as the data API does for the user. */
export const asUser = ({ user }: Session, statement: string) =>
  pool.begin(async (transaction) => {
    const claims = JSON.stringify({ sub: user.id, role: 'authenticated' });
    await transaction`select set_config('request.jwt.claims', ${claims}, true), set_config('role', 'authenticated', true)`;
    const [row] = await transaction.unsafe(statement);
    return row?.['result'];
  });

export interface Play {
  id: string;
  sound_id: string;
}

export const playOf = (sound_id: string): Play => ({ id: randomUUID(), sound_id });

export const shuffled = <T>(items: T[]) => items.toSorted(() => Math.random() - 0.5);

/** Counts plays as the service does. Returns their statuses. */
export async function countPlays({ user }: Session, plays: Play[], moment = new Date()): Promise<string[]> {
  const sent = plays.map((play) => ({ ...play, played_at: moment.toISOString() }));
  const [row] = await pool`select public.count_plays(${pool.json(sent)}, ${user.id}) as results`;
  return row?.['results'].map(({ status }: { status: string }) => status);
}

/** Expects that none of these tables has a row with one of the values. */
export async function expectNone(sql: Sql, column: string, values: string[], tables: string[]) {
  for (const table of tables)
    expect(await sql`select from ${sql(table)} where ${sql(column)} = any (${values})`, table).toEqual([]);
}
