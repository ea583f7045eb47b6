import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { signUp, test } from '../support/test.ts';

/** Deletes an account as the dashboard does. */
async function deleteAccount(id: string) {
  const { apiUrl, secretKey } = inject('stack');
  const headers = { apikey: secretKey, Authorization: `Bearer ${secretKey}` };
  const { status } = await fetch(`${apiUrl}/auth/v1/admin/users/${id}`, { method: 'DELETE', headers });
  expect(status).toBe(200);
}

describe('an account that Auth has deleted', () => {
  test('gets 401 from the service for its own data', async ({ api, sql }) => {
    const { user, access_token: token } = await signUp(api);
    const sound_id = await addSound(sql);
    await deleteAccount(user.id);
    for (const call of [
      api.get('/me'),
      api.get('/me/customer'),
      api.patch('/me/customer').send({ full_name: 'Ghost' }),
      api.get('/favorites'),
      api.post('/favorites').send({ sound_id }),
      api.delete(`/favorites/${sound_id}`),
      api.post(`/sounds/${sound_id}/play`),
      api
        .post('/plays')
        .send({ plays: [{ id: randomUUID(), sound_id, played_at: new Date().toISOString() }] }),
      api.get('/history'),
      api.delete('/history'),
      api.delete(`/history/${sound_id}`),
      api.get('/me/export'),
    ]) {
      await call.auth(token, bearer).expect(401);
    }
  });
});
