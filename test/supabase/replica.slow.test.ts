import request from 'supertest';
import { test as base, expect, inject, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { readReplica } from '../../src/doctor/replica.ts';
import { createRun } from '../../src/doctor/run.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { fixture } from '../support/fixture.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Fault, startNetwork } from '../support/network.ts';
import { environment } from '../support/server-process.ts';
import { clientWith, issueKey, newUser } from '../support/test.ts';
import { type ReplicatedStack, startReplicatedStack } from './replicated-stack.ts';

const test = base.extend<{ $file: { stack: ReplicatedStack } }>({
  stack: [
    fixture(async (use) => {
      const stack = await startReplicatedStack();
      await use(stack);
      await stack.stop();
    }),
    { scope: 'file' },
  ],
});

vi.setConfig({ testTimeout: 60_000 }); // the fixture starts two databases and two data APIs

async function readiness({ port }: Gateway) {
  const { status, body } = await request(`http://127.0.0.1:${port}`).get('/readyz');
  return { status, database: body.checks.database.ok, replica: body.checks.replica.ok };
}

/** Starts a gateway for both databases, with a user and a sound that the replica already has. */
async function startService({ apiUrl, replicaUrl, publishableKey, secretKey, sql }: ReplicatedStack) {
  const primary = await startNetwork(apiUrl, () => undefined);
  const replica = await startNetwork(replicaUrl, () => undefined);
  const env = {
    SUPABASE_URL: primary.url,
    SUPABASE_READ_URL: replica.url,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
    SUPABASE_JWT_SECRET: '',
  };
  const gateway = await startGateway(env);
  onTestFinished(gateway.close);
  const user = await newUser(gateway);
  const category = await addCategory(sql);
  const id = await addSound(sql, { category });
  const list = async () => (await user.app.get('/sounds').query({ category }).expect(200)).body.data;
  await expect.poll(list).toMatchObject([{ id }]);
  return { env, gateway, primary, replica, user, app: user.app, id, list };
}

test('a replica answers catalogue reads, even if it lags, and the primary all other requests', async ({ stack }) => {
  const { env, gateway, primary, replica, user, app, id, list } = await startService(stack);
  await stack.standbySql`select pg_wal_replay_pause()`;
  const reads = {
    '/categories': 'list_categories',
    '/home': 'list_home_sections',
    '/sounds?search=in': 'list_sounds',
    '/catalogue/changes': 'list_catalogue_changes',
  };
  for (const path of Object.keys(reads)) await app.get(path).expect(200);
  const change = (is_premium: boolean) =>
    stack.sql`update public.sounds set is_premium = ${is_premium} where id = ${id}`;
  await change(true); // not replicated yet
  expect((await app.get(`/sounds/${id}`)).body.data.is_locked).toBe(true);
  expect((await app.post('/sounds/files').send({ ids: [id] })).body.data).toMatchObject([{ is_locked: true }]);
  await change(false);
  await app.post('/favorites').send({ sound_id: id }).expect(201);
  await app.post(`/sounds/${id}/play`).expect(200);
  await app.patch('/me/customer').send({ country: 'DE' }).expect(200);
  const dataOf = async (path: string) => (await app.get(path).expect(200)).body.data;
  expect(await dataOf('/favorites')).toMatchObject([{ sound_id: id }]);
  expect(await dataOf('/history')).toMatchObject([{ sound_id: id, plays: 1 }]);
  expect(await dataOf('/me/customer')).toMatchObject({ country: 'DE' });
  const keyed = clientWith(gateway, await issueKey(stack.sql, user));
  await keyed.get('/sounds').expect(200);

  await stack.sql`update public.sounds set is_active = false where id = ${id}`;
  expect(await list()).toMatchObject([{ id, play_count: 0 }]);
  await stack.standbySql`select pg_wal_replay_resume()`;
  await expect.poll(list).toEqual([]);
  expect(await readiness(gateway)).toEqual({ status: 200, database: true, replica: true });
  const run = createRun(loadConfig({ ...environment(), ...env }), null);
  expect(await readReplica.execute(run)).toMatch(/^A replica answers, [\d.]+ s behind the primary\.$/);
  await run.close();

  const namesOf = (method: string, { passed }: typeof primary) =>
    passed
      .filter((call) => call.method === method)
      .map(({ path }) => /^\/rest\/v1\/rpc\/(\w+)/.exec(path)?.[1] ?? '')
      .filter((name) => name !== '');
  const answered = [...Object.values(reads), 'replica_lag_seconds'];
  expect(new Set(namesOf('GET', replica))).toEqual(new Set(answered));
  expect([...namesOf('POST', replica), ...namesOf('GET', primary)]).toEqual([]);
  const personal = 'as_api_key add_favorite count_play list_favorites list_history get_customer touch_last_seen';
  const locking = 'get_sound list_sound_files';
  expect(namesOf('POST', primary)).toEqual(expect.arrayContaining(`${personal} ${locking}`.split(' ')));
});

test('a replica answers all lists while the primary is down', async ({ stack }) => {
  await addSound(stack.sql); // needed for a second page
  const { gateway, app, id, list } = await startService(stack);
  const page = '/sounds?sort=newest&limit=1';
  const { body } = await app.get(page).expect(200);
  const giveBack = await stack.stopPrimary();
  const queries = ['', `?ids=${id}`, '?q=rain', '?sort=popular'].map((query) => `/sounds${query}`);
  const next = `${page}&cursor=${body.next_cursor}`;
  for (const path of ['/categories', '/home', '/catalogue/changes', ...queries, next])
    expect((await app.get(path)).status, path).toBe(200);
  expect(await list()).toMatchObject([{ id }]);
  expect((await app.get('/favorites')).status).toBe(500);
  expect(await readiness(gateway)).toEqual({ status: 503, database: false, replica: true });
  await giveBack();
  await expect.poll(async () => (await app.get('/favorites')).status).toBe(200);
  await stack.sql`update public.sounds set is_active = false where id = ${id}`;
  await expect.poll(list).toEqual([]); // the replica follows again
});

base.for<[string, Fault | Promise<Fault>, { rests: boolean }]>([
  ['is cut off', 'cut', { rests: true }],
  ['has status 500', { status: 500, body: '{"code":"40001","message":"conflict"}' }, { rests: true }],
  ['never comes', new Promise(() => {}), { rests: true }],
  // The replica still answers other reads after this error.
  ['says that a function is missing', { status: 404, body: '{"code":"PGRST202"}' }, { rests: false }],
])("the primary answers a read when the replica's answer %s", async ([, fault, { rests }]) => {
  let answer: typeof fault = fault;
  let asked = 0;
  const replica = await startNetwork(inject('stack').apiUrl, () => {
    asked++;
    return answer;
  });
  const gateway = await startGateway({ SUPABASE_READ_URL: replica.url, LOG_LEVEL: 'info' });
  onTestFinished(gateway.close);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Reads three times. Returns the number of requests to the replica so far, and its messages in the log. */
  const readThrice = async () => {
    for (let turn = 0; turn < 3; turn++) expect((await fetch(`${gateway.url}/categories`)).status).toBe(200);
    return [asked, ...(gateway.logged.join('').match(/(?<=The read replica )[a-z ]+/g) ?? [])];
  };
  expect(await readThrice()).toEqual(rests ? [1, 'failed'] : [3]);
  if (!rests) {
    expect(await readiness(gateway)).toEqual({ status: 200, database: true, replica: false });
    return;
  }
  vi.advanceTimersByTime(9_999);
  expect(await readThrice()).toEqual([1, 'failed']);
  vi.advanceTimersByTime(1);
  expect(await readThrice()).toEqual([2, 'failed']);
  answer = undefined;
  vi.advanceTimersByTime(10_000);
  expect(await readThrice()).toEqual([5, 'failed', 'answers again']);
});
