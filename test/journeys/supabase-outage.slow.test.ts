import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addSounds } from '../support/catalogue.ts';
import { residentMb } from '../support/processes.ts';
import { environment, startListening } from '../support/server-process.ts';
import { newEmail, password, signUp } from '../support/test.ts';
import { startFragileStack } from './fragile-stack.ts';

/** Returns all calls that an app makes for a signed-in user. */
async function appCalls(api: Api, databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  const [sound] = await addSounds(sql, [{ title: 'A bowl' }, { title: 'Rain' }]);
  await sql.end();
  const email = newEmail();
  const { access_token: token } = await signUp(api, email);
  return [
    () => api.get('/categories'),
    () => api.get('/sounds').auth(token, bearer),
    () => api.get(`/sounds/${sound}`).auth(token, bearer),
    () => api.post(`/sounds/${sound}/play`).auth(token, bearer),
    () => api.get('/home').auth(token, bearer),
    () => api.get('/favorites').auth(token, bearer),
    () => api.post('/favorites').auth(token, bearer).send({ sound_id: sound }),
    () => api.get('/me/customer').auth(token, bearer),
    () => api.post('/auth/signin').send({ email, password }),
  ];
}

const until = (condition: () => boolean) => expect.poll(condition, { timeout: 30_000 }).toBe(true);

test('calls fail with 500 while Postgres is down, and work afterwards', async () => {
  const stack = await startFragileStack();
  const { apiUrl, databaseUrl, publishableKey, secretKey } = stack;
  const { child, exited, origin } = await startListening({
    ...environment(),
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
  });
  const calls = await appCalls(apiAt(`${origin}/api/v1`), databaseUrl);
  const ended: { call: number; status: number; startedMs: number }[] = [];
  let isOn = true;
  // Repeats each call until the end. The client checks every response against the OpenAPI document.
  const clients = calls.map(async (send, call) => {
    for (; isOn; await sleep(300)) {
      const startedMs = performance.now();
      ended.push({ call, status: (await send()).status, startedMs });
    }
  });
  onTestFinished(async () => {
    isOn = false;
    await Promise.all(clients);
    child.kill('SIGTERM');
    await exited;
    await stack.stop();
  });

  const works = () => ended.length > 50 && ended.slice(-50).every(({ status }) => status < 300);
  await until(works);
  const memoryBefore = residentMb(child.pid);
  await stack.stopPostgres();
  const brokenMs = performance.now();
  const failed = () => ended.filter(({ status, startedMs }) => status === 500 && startedMs > brokenMs);
  await until(() => new Set(failed().map(({ call }) => call)).size === calls.length);
  await stack.startPostgres();
  await until(works);
  isOn = false;
  await Promise.all(clients);
  for (const { status } of ended) expect([200, 201, 500]).toContain(status);
  expect(residentMb(child.pid) - memoryBefore).toBeLessThan(100);
});
