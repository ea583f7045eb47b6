import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sharedSecret } from './access-token.ts';
import { type Api, apiAt } from './api.ts';
import { type Gateway, listen, startGateway } from './gateway.ts';

/**
 * Runs `check` with a gateway whose Supabase is a server that behaves as given, because a real one cannot be made to
 * fail in every way.
 */
export async function withSupabase(
  behave: RequestListener,
  check: (api: Api, gateway: Gateway) => Promise<void>,
  env: Record<string, string> = {},
) {
  const upstream = await listen(createServer(behave));
  const gateway = await startGateway({
    SUPABASE_JWT_SECRET: sharedSecret,
    ...env,
    SUPABASE_URL: `http://127.0.0.1:${upstream.port}`,
  });
  try {
    await check(apiAt(gateway.url), gateway);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** Waits without a timer, because expect.poll would advance a fake clock. */
export async function until(isTrue: () => boolean) {
  while (!isTrue()) await nextTurn();
}

const session = JSON.stringify({
  access_token: 'access-token-of-a-test',
  refresh_token: 'refresh-token-of-a-test',
  token_type: 'bearer',
  expires_at: 1_782_210_600,
  expires_in: 3600,
  user: { id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', email: 'ada@example.com' },
});

/** Answers a sign-in as Auth does. */
export const sendSession = (res: ServerResponse) =>
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(session);
