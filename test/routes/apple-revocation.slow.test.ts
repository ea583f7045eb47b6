import { createServer } from 'node:http';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { expect, inject } from 'vitest';
import { apiAt, bearer } from '../support/api.ts';
import { appleEnv } from '../support/apple.ts';
import { listen, startGateway } from '../support/gateway.ts';
import { newEmail, test } from '../support/test.ts';

// A real project trusts only tokens of Apple, which tests cannot sign.
test.runIf(inject('stack').embedded)('a revocation at an Apple that hangs fails after 11 s in all', async () => {
  const silent = await listen(createServer(() => {}));
  const apple = await startSmallApple();
  const gateway = await startGateway(appleEnv(apple), `http://127.0.0.1:${silent.port}`);
  const api = apiAt(gateway.url);
  const id_token = await makeIdToken({ provider: 'apple', email: newEmail() });
  const { access_token } = (await api.post('/auth/oauth/apple').send({ id_token }).expect(200)).body.data;
  const started = performance.now();
  const body = { authorization_code: 'dev-hanging' };
  await api.post('/me/apple/revocation').auth(access_token, bearer).send(body).expect(500);
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(10.5);
  expect(seconds).toBeLessThan(14);
  expect(gateway.logged.join('')).toMatch(/Apple did not answer \/auth\/token.*APPLE_TEAM_ID/);
  await api.delete('/me').auth(access_token, bearer).expect(200);
  await gateway.close();
  await silent.close();
  apple.close();
});
