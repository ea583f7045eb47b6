import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedSecret } from './access-token.ts';
import { type Api, apiAt } from './api.ts';
import { type Gateway, startGateway } from './gateway.ts';

/**
 * Runs `check` against a gateway whose Supabase is a server that behaves as given: a real one cannot be made to fail in
 * every way.
 */
export async function withSupabase(
  behave: RequestListener,
  check: (api: Api, gateway: Gateway) => Promise<void>,
  env: Record<string, string> = {},
) {
  const upstream = createServer(behave);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const gateway = await startGateway({
    SUPABASE_JWT_SECRET: sharedSecret,
    ...env,
    SUPABASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  });
  try {
    await check(apiAt(gateway.url), gateway);
  } finally {
    await gateway.close();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  }
}
