import { mkdtemp } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiOptions, startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { forgingAt, type GivenStack, requireSuitable } from './given-stack.ts';
import { freePort } from './ports.ts';

/** A project as TEST_SUPABASE_URL and its companions would name it, on the database of this run. */
const given = (apiUrl: string, jwtSecret = ''): GivenStack => {
  const { mailUrl, confirmingUrl, databaseUrl, publishableKey, secretKey } = inject('stack');
  return { apiUrl, mailUrl, confirmingUrl, databaseUrl, publishableKey, secretKey, jwtSecret };
};

async function startProject(settings: Partial<ApiOptions>): Promise<string> {
  const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-given-'));
  const { url, stop } = await startApi({
    databaseUrl: inject('stack').databaseUrl,
    storageDir,
    port: 0,
    ...settings,
  });
  onTestFinished(stop);
  return url;
}

describe.runIf(inject('stack').embedded)('a project that the tests are pointed at', () => {
  test('is taken when it allows what they need', async () => {
    const project = given(await startProject({}));
    await requireSuitable(project);
    expect(await forgingAt(project)).toBe('ES256');
  });

  test('is taken when it signs with a shared secret that is given', async () => {
    const project = given(await startProject({ signing: 'HS256' }), LOCAL_KEYS.jwtSecret);
    await requireSuitable(project);
    expect(await forgingAt(project)).toBe('HS256');
  });

  test.for<[string, Partial<ApiOptions>, RegExp]>([
    ['asks for confirmation', { emailConfirmations: true }, /switch off Confirm email/],
    ['has e-mail switched off', { emailSignIn: false }, /switch on sign-ups and the provider Email/],
    ['keeps its shared secret', { signing: 'HS256' }, /set TEST_SUPABASE_JWT_SECRET/],
  ])('is rejected in one sentence when it %s', async ([, settings, sentence]) => {
    await expect(requireSuitable(given(await startProject(settings)))).rejects.toThrow(sentence);
  });

  test('is rejected in one sentence when nothing answers there', async () => {
    const nobody = given(`http://127.0.0.1:${await freePort()}`);
    await expect(requireSuitable(nobody)).rejects.toThrow(/^Nothing answers at TEST_SUPABASE_URL, /);
  });
});

/** Starts an Auth that limits some of its endpoints as the real one does: 30 pass at once, and then so many a second. */
async function limitedProject(perSecond: Record<string, number>): Promise<GivenStack> {
  const left = new Map<string, { tokens: number; at: number }>();
  const passes = (path: string) => {
    const rate = perSecond[path] ?? 1_000_000;
    const now = performance.now();
    const bucket = left.get(path) ?? { tokens: 30, at: now };
    const tokens = Math.min(30, bucket.tokens + ((now - bucket.at) / 1000) * rate);
    left.set(path, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    return tokens >= 1;
  };
  const answer: RequestListener = (req, res) => {
    const path = new URL(req.url ?? '', 'http://host').pathname.replace('/auth/v1/', '');
    const send = (status: number, body: object) => res.writeHead(status).end(JSON.stringify(body));
    if (path === 'settings') return send(200, { mailer_autoconfirm: true, external: { email: true } });
    if (path === '.well-known/jwks.json') return send(200, { keys: [{ kid: 'of somebody else' }] });
    return send(passes(path) ? 400 : 429, {});
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return given(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

test.for([
  ['signup', /limits sign-ups: .*Rate Limits/],
  ['token', /limits sign-ins and token refreshes: .*Rate Limits/],
] as const)(
  'a project that limits %s as new projects do is rejected in one sentence (the embedded one limits nobody)',
  async ([limited, sentence]) => {
    const project = await limitedProject({ [limited]: 0.1 });
    await expect(requireSuitable(project)).rejects.toThrow(sentence);
    expect(await forgingAt(project)).toBeNull();
  },
);

test('a project with the limits that the tests need is suitable, though no more than 30 calls pass at once', async () => {
  await requireSuitable(await limitedProject({ signup: 100, token: 100 }));
});
