import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { apiAt } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

describe('GET /config', () => {
  test('returns covers, and settings of sign-up and of the operator, without a token', async ({ sql }) => {
    const key = `tests ${randomUUID()}`;
    await sql`insert into public.app_settings values (${key}, ${sql.json({ any: ['JSON', null] })})`;
    onTestFinished(async () => void (await sql`delete from public.app_settings where key = ${key}`));
    const gateway = await startGateway({ SUPABASE_PUBLIC_URL: 'https://files.example.com/' });
    const { body } = await apiAt(gateway.url).get('/config').expect(200);
    const storage_url = 'https://files.example.com/storage/v1/object/public/';
    expect(body.data).toEqual({
      storage_url,
      cover_sizes: { template: `${storage_url}{path}.{size}.webp`, sizes: [256] },
      id_token_providers: expect.any(Array),
      sign_up: true,
      email_confirmation: false,
      guests: expect.any(Boolean),
      settings: expect.objectContaining({ [key]: { any: ['JSON', null] } }),
    });
    await gateway.close();
  });

  test('requests the settings of Auth and the operator once a minute, and keeps the last ones', async () => {
    let ahead = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    onTestFinished(() => void vi.restoreAllMocks());

    const external = { email: true, google: true, apple: true, anonymous_users: false };
    const settings = { disable_signup: false, mailer_autoconfirm: true, external };
    const ofOperator: Record<string, unknown> = {};
    const allowed = { guests: true };
    const answering: RequestListener = ({ url }, res) => {
      const answer = url === '/auth/v1/settings' ? settings : { settings: ofOperator, ...allowed };
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    };
    const outages: RequestListener[] = [
      (_req, res) => res.writeHead(503).end(),
      (_req, res) => res.writeHead(200).end('{}'), // 200 without the settings
      (req) => req.socket.destroy(),
      () => {}, // never answers
    ];
    let behave = outages[0] as RequestListener;
    let calls = 0;
    await withSupabase(
      (req, res) => {
        calls++;
        behave(req, res);
      },
      async (api) => {
        await api.get('/config').expect(500); // Auth has not answered yet
        behave = answering;
        const { body, headers } = await api.get('/config').expect(200);
        const path = '/storage/v1/render/image/public/{path}?width={size}&height={size}&resize=cover';
        const cover_sizes = { template: expect.stringContaining(path), sizes: [128, 256, 512, 1024] };
        const open = { cover_sizes, id_token_providers: ['apple'], sign_up: true, guests: false };
        expect(body.data).toMatchObject({ ...open, settings: {} });
        const etag = headers['etag'] ?? '';
        const data = async () => (await api.get('/config').expect(200)).body.data;
        const signUp = async () => (await data()).sign_up;
        settings.disable_signup = true;
        external.apple = false;
        ofOperator['message'] = 'Back at 10:00 UTC.';
        ahead += 55_000;
        expect([await signUp(), calls]).toEqual([true, 4]);
        await api.get('/config').set('If-None-Match', etag).expect(304);
        ahead += 5_100;
        // Poll, because lru-cache caches the clock for 1 ms.
        await expect.poll(signUp).toBe(false);
        expect(calls).toBe(6);
        const known = { id_token_providers: [], settings: { message: 'Back at 10:00 UTC.' }, sign_up: false };
        expect(await data()).toMatchObject(known);
        await api.get('/config').set('If-None-Match', etag).expect(200);

        settings.disable_signup = false;
        delete ofOperator['message'];
        for (behave of outages) {
          ahead += 3_600_000;
          expect(await data()).toMatchObject(known);
        }
        behave = answering;
        expect(await data()).toMatchObject({ settings: {}, sign_up: true, guests: false });
        external.email = false;
        external.anonymous_users = true;
        ahead += 3_600_000;
        await expect.poll(signUp).toBe(false);
        expect(await data()).toMatchObject({ guests: true });
        allowed.guests = false;
        ahead += 3_600_000;
        await expect.poll(async () => (await data()).guests).toBe(false);
      },
      { IMAGE_TRANSFORMATIONS: 'true', ID_TOKEN_PROVIDERS: 'apple' },
    );
  });
});
