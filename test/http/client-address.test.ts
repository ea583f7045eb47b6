import { expect, inject } from 'vitest';
import { withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

test('Supabase is sent the address from a trusted proxy, without port, or that of the client', async () => {
  const seen: unknown[] = [];
  const signInFrom = (addresses: string[], env: Record<string, string>) =>
    withSupabase(
      ({ headers }, res) => {
        seen.push([headers['sb-forwarded-for'], headers['apikey'], headers.authorization]);
        res.writeHead(500).end();
      },
      async (api) => {
        for (const address of addresses) {
          const signIn = api.post('/auth/signin').set('X-Forwarded-For', address);
          await signIn.send({ email: 'a@example.com', password }).expect(500);
        }
      },
      env,
    );
  const trusted = {
    '203.0.113.7': '203.0.113.7',
    '203.0.113.7:4711': '203.0.113.7',
    '[2001:db8::1]:4711': '2001:db8::1',
    unknown: '127.0.0.1',
    '203.0.113.7:4711:1': '127.0.0.1',
  };
  await signInFrom(Object.keys(trusted), { TRUST_PROXY: '1' });
  await signInFrom(['203.0.113.7'], {});
  const { secretKey } = inject('stack');
  const sent = [...Object.values(trusted), '127.0.0.1'].map((address) => [address, secretKey, undefined]);
  expect(seen).toEqual(sent);
});
