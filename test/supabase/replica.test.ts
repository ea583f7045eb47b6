import request from 'supertest';
import { test as base, describe, expect, inject } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { readReplica } from '../../src/doctor/replica.ts';
import { createRun } from '../../src/doctor/run.ts';
import { apiAt, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { type Fault, type ProxiedRequest, startNetwork } from '../support/network.ts';
import { environment } from '../support/server-process.ts';
import { newEmail, password, signUp } from '../support/test.ts';
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

const passThrough = () => undefined;

/** The functions that were called, each once. */
const namesOf = (passed: ProxiedRequest[]) =>
  [...new Set(passed.map(({ path }) => /^\/rest\/v1\/rpc\/(\w+)/.exec(path)?.[1] ?? ''))]
    .filter((name) => name !== '')
    .toSorted();

/**
 * A gateway for one test in front of the two databases. Its reads go to a front that routes by method, as the load balancer of
 * Supabase does.
 */
async function startService(stack: ReplicatedStack) {
  const primary = await startNetwork(stack.apiUrl, passThrough);
  const replica = await startNetwork(stack.replicaUrl, passThrough);
  const front = await startNetwork(
    ({ method, path }) => (method === 'GET' && path.startsWith('/rest/') ? replica.url : primary.url),
    passThrough,
  );
  const env = {
    SUPABASE_URL: primary.url,
    SUPABASE_READ_URL: front.url,
    SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
    SUPABASE_SECRET_KEY: stack.secretKey,
    SUPABASE_JWT_SECRET: '',
  };
  const gateway = await startGateway(env);
  const readiness = async () => {
    const { status, body } = await request(`http://127.0.0.1:${gateway.port}`).get('/readyz');
    return { status, database: body.checks.database.ok, replica: body.checks.replica.ok };
  };
  return { env, gateway, api: apiAt(gateway.url), primary, replica, front, readiness };
}

type Service = Awaited<ReturnType<typeof startService>>;

/** Waits until the replica shows a sound to everybody. */
const untilListed = ({ api }: Service, token: string, category: string, id: string) =>
  expect
    .poll(async () => (await api.get('/sounds').query({ category }).auth(token, bearer)).body.data)
    .toMatchObject([{ id }]);

// Two databases and two data APIs start, and a failed replica is skipped for 10 s.
describe('with a read replica', { timeout: 60_000 }, () => {
  test('the replica answers catalogue reads, the primary all other calls', async ({ stack }) => {
    const service = await startService(stack);
    const { api, primary, replica, gateway, readiness } = service;
    const email = newEmail();
    const { access_token: token, refresh_token } = await signUp(api, email);
    const category = await addCategory(stack.sql);
    const id = await addSound(stack.sql, { category });
    await untilListed(service, token, category, id);
    const get = (path: string) => api.get(path).auth(token, bearer).expect(200);
    const reads = {
      '/categories': 'list_categories',
      '/home': 'list_home_sections',
      '/sounds?search=in': 'list_sounds',
      [`/sounds/${id}`]: 'get_sound',
      '/catalogue/changes': 'list_catalogue_changes',
    };
    for (const path of Object.keys(reads)) await get(path);
    await api
      .post('/sounds/files')
      .send({ ids: [id] })
      .auth(token, bearer)
      .expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(200);
    await api.post('/auth/refresh').send({ refresh_token }).expect(200);
    await api.post('/favorites').auth(token, bearer).send({ sound_id: id }).expect(201);
    await api.post(`/sounds/${id}/play`).auth(token, bearer).expect(200);
    await api.patch('/me/customer').auth(token, bearer).send({ country: 'DE' }).expect(200);
    expect((await get('/favorites')).body.data).toMatchObject([{ sound_id: id }]);
    expect((await get('/history')).body.data).toMatchObject([{ sound_id: id }]);
    expect((await get('/me/customer')).body.data).toMatchObject({ country: 'DE' });
    const [issued] = await stack.sql`select * from admin.create_api_key('Reader', ${email})`;
    await api.get('/sounds').auth(issued?.['api_key'], bearer).expect(200);
    await expect.poll(readiness, { timeout: 20_000 }).toEqual({ status: 200, database: true, replica: true });
    await gateway.close();

    expect(namesOf(replica.passed)).toEqual(
      [...Object.values(reads), 'list_sound_files', 'replica_lag_seconds'].toSorted(),
    );
    expect(replica.passed.every(({ method }) => method === 'GET')).toBe(true);
    expect(primary.passed.filter(({ method, path }) => method === 'GET' && path.includes('/rpc/'))).toEqual(
      [],
    );
    expect(namesOf(primary.passed)).toEqual(
      expect.arrayContaining(['as_api_key', 'add_favorite', 'count_play', 'list_favorites', 'list_history']),
    );
  });

  test('one that stands still hides nothing that a user has just done', async ({ stack }) => {
    const service = await startService(stack);
    const { api, gateway } = service;
    const { access_token: token } = await signUp(api);
    const category = await addCategory(stack.sql);
    const id = await addSound(stack.sql, { category });
    await untilListed(service, token, category, id);

    await stack.standbySql`select pg_wal_replay_pause()`;
    const get = async (path: string) => (await api.get(path).auth(token, bearer).expect(200)).body;
    await api.post('/favorites').auth(token, bearer).send({ sound_id: id }).expect(201);
    await api.post(`/sounds/${id}/play`).auth(token, bearer).expect(200);
    await api.patch('/me/customer').auth(token, bearer).send({ full_name: 'Ada' }).expect(200);
    expect((await get('/favorites')).data).toMatchObject([{ sound_id: id }]);
    expect((await get('/history')).data).toMatchObject([{ sound_id: id, plays: 1 }]);
    expect((await get('/me/customer')).data).toMatchObject({ full_name: 'Ada' });
    const email = newEmail();
    await signUp(api, email);
    await api.post('/auth/signin').send({ email, password }).expect(200);
    // It does stand still: what an administrator changes comes later.
    await stack.sql`update public.sounds set is_active = false where id = ${id}`;
    const list = async () => (await get(`/sounds?category=${category}`)).data;
    await expect.poll(list).toMatchObject([{ id, play_count: 0 }]);
    await stack.standbySql`select pg_wal_replay_resume()`;
    await expect.poll(list).toEqual([]);
    await gateway.close();
  });

  test('lists are answered while the primary is down', async ({ stack }) => {
    const service = await startService(stack);
    const { api, gateway, readiness } = service;
    const { access_token: token } = await signUp(api);
    const category = await addCategory(stack.sql);
    const first = await addSound(stack.sql);
    await untilListed(service, token, category, await addSound(stack.sql, { category }));
    const page = '/sounds?sort=newest&limit=1';
    const { body } = await api.get(page).auth(token, bearer).expect(200);
    const giveBack = await stack.stopPostgres('primary');
    const statusOf = async (path: string) => (await api.get(path).auth(token, bearer)).status;
    for (const path of [
      '/categories',
      '/home',
      '/catalogue/changes',
      ...['', `?category=${category}`, `?ids=${first}`, '?q=rain', '?sort=popular'].map(
        (query) => `/sounds${query}`,
      ),
      `${page}&cursor=${body.next_cursor}`,
    ])
      expect(await statusOf(path), path).toBe(200);
    expect(await statusOf('/favorites')).toBe(500);
    await expect
      .poll(readiness, { timeout: 20_000 })
      .toEqual({ status: 503, database: false, replica: true });
    await giveBack();
    await expect.poll(() => statusOf('/favorites')).toBe(200);
    const later = await addCategory(stack.sql);
    await untilListed(service, token, later, await addSound(stack.sql, { category: later })); // it follows again
    await gateway.close();
  });

  test('one that dies is noticed by no user: the primary answers until it is back', async ({ stack }) => {
    const service = await startService(stack);
    const { env, api, gateway, replica, readiness } = service;
    const { access_token: token } = await signUp(api);
    const category = await addCategory(stack.sql);
    const id = await addSound(stack.sql, { category });
    await untilListed(service, token, category, id);
    const run = createRun(loadConfig({ ...environment(), ...env }), null);
    expect(await readReplica.execute(run)).toMatch(/^A replica answers, [\d.]+ s behind the primary\.$/);

    const statuses: number[] = [];
    let on = true;
    const traffic = ['/categories', '/home', '/sounds', `/sounds/${id}`].map(async (path) => {
      while (on) {
        statuses.push((await api.get(path).auth(token, bearer)).status);
      }
    });
    await expect.poll(() => statuses.length).toBeGreaterThan(20);
    const giveBack = await stack.stopPostgres('standby');
    const before = statuses.length;
    await expect.poll(() => statuses.length).toBeGreaterThan(before + 50);
    await expect
      .poll(readiness, { timeout: 20_000 })
      .toEqual({ status: 200, database: true, replica: false });
    await expect(readReplica.execute(run)).rejects.toThrow(/ answers 503\.$| does not answer: /);
    expect(gateway.logged.join('')).toContain('The read replica failed');
    await giveBack();
    await expect
      .poll(() => gateway.logged.join(''), { timeout: 20_000 })
      .toContain('The read replica answers again');
    const asked = replica.passed.length;
    await expect.poll(() => replica.passed.length).toBeGreaterThan(asked + 10);
    on = false;
    await Promise.all(traffic);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await run.close();
    await gateway.close();
  });
});

describe('a read that a replica does not answer is answered by the primary', () => {
  base.for<[string, Fault | Promise<Fault>, { asks: number }]>([
    ['is cut off', 'cut', { asks: 1 }],
    ['is 500', { status: 500, body: '{"code":"40001","message":"conflict with recovery"}' }, { asks: 1 }],
    ['is a web page', { status: 502, body: '<h1>Bad gateway</h1>' }, { asks: 1 }],
    ['never comes', new Promise(() => {}), { asks: 1 }],
    // It answers what it knows: a function that is missing there is not the end of it.
    ['is that a function is missing', { status: 404, body: '{"code":"PGRST202"}' }, { asks: 3 }],
    ['is that a token is rejected', { status: 401, body: '{"code":"PGRST301"}' }, { asks: 3 }],
  ])("the primary answers a read when the replica's answer %s", async ([, fault, { asks }]) => {
    const asked: string[] = [];
    const replica = await startNetwork(inject('stack').apiUrl, ({ path }) => {
      asked.push(path);
      return fault;
    });
    const gateway = await startGateway({ SUPABASE_READ_URL: replica.url });
    const api = apiAt(gateway.url);
    for (let turn = 0; turn < 3; turn++) await api.get('/categories').expect(200);
    expect(asked).toHaveLength(asks);
    await gateway.close();
  });
});
