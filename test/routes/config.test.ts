import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, inject, vi } from 'vitest';
import { apiAt } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { testWithProject } from '../support/project.ts';
import { test } from '../support/test.ts';

const { embedded } = inject('stack');
const closed = testWithProject({ emailSignIn: false });
const confirming = testWithProject({ emailConfirmations: true });

describe('GET /config', () => {
  test('tells an app without a token where covers are, and that it may sign users up', async () => {
    const gateway = await startGateway({ SUPABASE_PUBLIC_URL: 'https://files.example.com/' });
    const { body } = await apiAt(gateway.url).get('/config').expect(200);
    expect(body).toEqual({
      data: {
        storage_url: 'https://files.example.com/storage/v1/object/public/',
        cover_sizes: {
          template: 'https://files.example.com/storage/v1/object/public/{path}.{size}.webp',
          sizes: [256],
        },
        id_token_providers: expect.any(Array),
        sign_up: true,
        email_confirmation: false,
      },
    });
    await gateway.close();
  });

  test("points to Storage's image transformations when IMAGE_TRANSFORMATIONS is true", async () => {
    const gateway = await startGateway({ IMAGE_TRANSFORMATIONS: 'true' });
    const { body } = await apiAt(gateway.url).get('/config').expect(200);
    const { template, sizes } = body.data.cover_sizes;
    expect(template).toMatch(
      /\/storage\/v1\/render\/image\/public\/\{path\}\?width=\{size\}&height=\{size\}&resize=cover$/,
    );
    expect(sizes).toEqual([128, 256, 512, 1024]);
    await gateway.close();
  });
});

describe.runIf(embedded)('GET /config of a project with settings of its own', () => {
  test('names the providers that the operator allows', async () => {
    const gateway = await startGateway({ ID_TOKEN_PROVIDERS: 'apple' });
    const { body } = await apiAt(gateway.url).get('/config').expect(200);
    expect(body.data.id_token_providers).toEqual(['apple']);
    await gateway.close();
  });

  closed('says that nobody can sign up where e-mail is switched off', async ({ project }) => {
    const { body } = await project.api.get('/config').expect(200);
    expect(body.data.sign_up).toBe(false);
  });

  confirming('says that addresses must be confirmed where they must', async ({ project }) => {
    const { body } = await project.api.get('/config').expect(200);
    expect(body.data).toMatchObject({ sign_up: true, email_confirmation: true });
  });
});

describe('the settings that GET /config tells', () => {
  let ahead = 0;
  beforeEach(() => {
    ahead = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    return () => void vi.restoreAllMocks();
  });

  /** An Auth that behaves as the test says at the time. */
  function auth() {
    const settings = { disable_signup: false, mailer_autoconfirm: true, external: { email: true } };
    const answering: RequestListener = (_req, res) =>
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(settings));
    const state = { settings, answering, behave: answering, asked: 0 };
    const listener: RequestListener = (req, res) => {
      state.asked += 1;
      state.behave(req, res);
    };
    return { state, listener };
  }

  test('the gateway requests the settings of Auth once a minute', async () => {
    const { state, listener } = auth();
    await withSupabase(listener, async (api) => {
      const signUp = async () => (await api.get('/config').expect(200)).body.data.sign_up;
      expect(await signUp()).toBe(true);
      state.settings.disable_signup = true;
      ahead += 55_000;
      expect([await signUp(), state.asked]).toEqual([true, 1]);
      ahead += 5_100;
      // The cache looks at the clock once a millisecond.
      await expect.poll(signUp).toBe(false);
      expect(state.asked).toBe(2);
    });
  });

  const outages: Record<string, RequestListener> = {
    fails: (_req, res) => res.writeHead(503).end(),
    'answers what is no settings': (_req, res) => res.writeHead(200).end('{}'),
    'hangs up': (req) => req.socket.destroy(),
    'does not answer': () => {},
  };
  test.for(Object.entries(outages))(
    'GET /config returns the last known settings when Auth %s',
    async ([, behave]) => {
      const { state, listener } = auth();
      await withSupabase(listener, async (api) => {
        const { body } = await api.get('/config').expect(200);
        state.behave = behave;
        ahead += 3_600_000;
        for (let count = 0; count < 2; count++) await api.get('/config').expect(200, body);
        state.settings.disable_signup = true;
        state.behave = state.answering;
        expect((await api.get('/config').expect(200)).body.data.sign_up).toBe(false);
      });
    },
  );

  test('GET /config returns 500 when Auth has never answered', async () => {
    await withSupabase(
      (_req, res) => res.writeHead(503).end(),
      async (api) => void (await api.get('/config').expect(500)),
    );
  });
});
