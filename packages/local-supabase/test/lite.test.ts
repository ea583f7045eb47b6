import { App } from '@supabase/lite';
import { PostgresConnection } from '@supabase/lite/postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { type AuthService, databaseOf, privateAuth, privateAuthMembers } from '../src/api/lite.ts';
import { localKeys } from '../src/keys.ts';

test('Supabase Lite has every private member that the emulator uses', async ({ onTestFinished }) => {
  const { databaseUrl, stop } = await startDatabase(17, 'bare');
  const connection = new PostgresConnection({ url: databaseUrl, postgresOptions: { onnotice() {} } });
  onTestFinished(async () => {
    await connection.close();
    await stop();
  });
  let service: AuthService | undefined;
  const app = new App({
    connection,
    api: { enabled: false },
    storage: { enabled: false },
    studio: { enabled: false },
    auth: { enabled: true, jwt_secret: localKeys.jwtSecret },
    options: {
      server: {
        middlewares: [
          (c) => {
            service = c.get('authService');
            return Promise.resolve(c.text(''));
          },
        ],
      },
    },
  });
  await app.fetch(new Request('http://localhost/auth/v1/settings'));
  if (!service) throw new Error('Lite did not call the middleware.');
  for (const name of Object.keys(privateAuthMembers)) expect(service, name).toHaveProperty(name);
  expect(privateAuth(service).config.email).toHaveProperty('enable_confirmations');
  expect(privateAuth(service).mailer.sendConfirmation).toBeTypeOf('function');
  expect(databaseOf(service.repo)).toBeDefined();
  expect('_storageAdapter' in app).toBe(true);
});
