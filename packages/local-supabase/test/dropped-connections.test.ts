import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';

// Uses a separate database, because other tests would lose their connections.
test('each closed connection of the pool costs one request, which gets 503', async ({ onTestFinished }) => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  const storageDir = await mkdtemp(join(tmpdir(), 'local-supabase-dropped-'));
  onTestFinished(() => rm(storageDir, { recursive: true }));
  const sql = postgres(databaseUrl, { max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  await sql.unsafe(`
    create function public.wait() returns void language sql as 'select pg_sleep(60)';
    grant execute on function public.wait() to service_role`);
  const api = await startApi({ databaseUrl, storageDir, port: 0 });
  onTestFinished(() => api.stop());

  const ask = async (name = 'list_categories') => {
    const headers = { apikey: LOCAL_KEYS.secretKey };
    const answer = await fetch(`${api.url}/rest/v1/rpc/${name}`, { method: 'POST', headers });
    const body = (await answer.json()) as { code?: string };
    return [answer.status, answer.headers.get('retry-after'), body.code];
  };
  const close = () =>
    sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator' and datname = current_database()`;
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
    await expect
      .poll(
        () =>
          sql`select from pg_stat_activity where usename = 'authenticator' and datname = current_database() and wait_event = 'PgSleep'`,
      )
      .toHaveLength(1);
    await close();
    expect(await waiting).toEqual(lost);
  }
});
