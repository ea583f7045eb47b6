import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';

// On a database of its own: others would lose their connections, too.
test('requests meet each connection that the database has closed once, with 503', async ({
  onTestFinished,
}) => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  const storageDir = await mkdtemp(join(tmpdir(), 'local-supabase-dropped-'));
  onTestFinished(() => rm(storageDir, { recursive: true }));
  const api = await startApi({ databaseUrl, storageDir, port: 0 });
  onTestFinished(() => api.stop());
  const sql = postgres(databaseUrl, { max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));

  const ask = () =>
    fetch(`${api.url}/rest/v1/rpc/list_categories`, { headers: { apikey: LOCAL_KEYS.publishableKey } });
  for (const _ of ['once', 'and again']) {
    // At the same time, so that each has a connection of its own.
    for (const { status } of await Promise.all([ask(), ask(), ask()])) expect(status).toBe(200);
    const closed = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'`;
    expect(closed.length).toBeGreaterThan(1);
    for (const _ of closed) {
      const answer = await ask();
      const { code } = (await answer.json()) as { code: string };
      expect([answer.status, answer.headers.get('retry-after'), code]).toEqual([503, '0', '57P01']);
    }
    expect((await ask()).status).toBe(200);
  }
});
