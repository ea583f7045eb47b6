import { expect, inject } from 'vitest';
import { test } from './supabase.ts';

// Not on a project of the environment, because other programs would lose their connections.
test.runIf(inject('stack').embedded)(
  'each closed connection of the pool costs one request, which gets 503',
  async ({ supabase: { sql, call, secretKey: apikey } }) => {
    await sql.unsafe(`
      create function public.answer() returns int language sql as 'select 7';
      create function public.wait() returns void language sql as 'select pg_sleep(60)';
      grant execute on all functions in schema public to service_role`);
    const ask = async (name = 'answer') => {
      const { status, headers, body } = await call(`/rest/v1/rpc/${name}`, { apikey, body: {} });
      return [status, headers.get('retry-after'), body.code];
    };
    await expect.poll(async () => (await ask())[0]).toBe(200); // after the schema was read
    const connections = sql`usename = 'authenticator' and datname = current_database()`;
    const close = () => sql`select pg_terminate_backend(pid) from pg_stat_activity where ${connections}`;
    const lost = [503, '0', '57P01'];
    for (const _ of ['once', 'and again']) {
      // Simultaneously, so that each has a connection.
      for (const [status] of await Promise.all([ask(), ask(), ask()])) expect(status).toBe(200);
      const closed = await close();
      expect(closed.length).toBeGreaterThan(1);
      for (let met = 0; met < closed.length; ) {
        const answer = await ask();
        if (answer[0] === 200) continue; // it came before the driver had heard
        expect(answer).toEqual(lost);
        met++;
      }
      expect((await ask())[0]).toBe(200);
      const waiting = ask('wait');
      const waits = () => sql`select from pg_stat_activity where ${connections} and wait_event = 'PgSleep'`;
      await expect.poll(waits).toHaveLength(1);
      await close();
      expect(await waiting).toEqual(lost);
    }
  },
);
