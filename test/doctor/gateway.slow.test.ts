import { describe, expect, inject } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { freePort } from '../support/ports.ts';
import { type Diagnose, findingsOf, problemsIn, resultOf, test } from './stack.ts';

describe.runIf(inject('stack').embedded)('npm run doctor with a gateway', () => {
  /** Runs the doctor with a gateway that has this environment, at its address or at the given one. */
  async function diagnoseWith(
    diagnose: Diagnose,
    env: Record<string, string> = {},
    addressOf = async (url: string) => url,
  ) {
    const gateway = await startGateway(env);
    const results = await diagnose({}, await addressOf(gateway.url));
    await gateway.close();
    return { results, log: gateway.logged.join('') };
  }

  test('finds nothing to fix in a correct gateway', async ({ diagnose }) => {
    const { results, log } = await diagnoseWith(diagnose);
    expect(problemsIn(results)).toEqual([]);
    expect(resultOf(results, 'Gateway proxies')?.detail).toBe(
      'It sees this machine at 127.0.0.1, inside its own network, as it should.',
    );
    for (const check of ['Reads', 'API keys']) expect(resultOf(results, check)?.status).toBe('ok');
    for (const { operation } of endpoints.filter(({ method }) => method === 'get')) expect(log).toContain(operation);
  });

  const atPublicAddress = async (url: string) => url.replace('127.0.0.1', '0.0.0.0');
  const nowhere = async () => `http://127.0.0.1:${await freePort()}`;
  test.for<[string, Record<string, string>, RegExp[], addressOf?: (url: string) => Promise<string>]>([
    ['trusts no proxy', { REQUIRE_HTTPS: 'true' }, [/^Gateway https: .*TRUST_PROXY to the number of proxies/]],
    ['trusts too many proxies', { TRUST_PROXY: '1' }, [/^Gateway proxies: .*greater than the number of proxies/]],
    ['lacks Supabase', { SUPABASE_URL: 'http://127.0.0.1:2' }, [/^Gateway: .*Read its log/]],
    [
      'takes a proxy for the client, over plain HTTP',
      {},
      [/^Gateway https: /, /^Gateway proxies: It mistakes a proxy \(127\.0\.0\.1\) for the client/],
      atPublicAddress,
    ],
    ['does not answer', {}, [/^Gateway: .*ECONNREFUSED/], nowhere],
  ])('reports a gateway that %s', async ([, env, expected, addressOf], { diagnose }) => {
    const { results } = await diagnoseWith(diagnose, env, addressOf);
    const findings = await findingsOf(Promise.resolve(results));
    expect(findings.filter((text) => text.startsWith('Gateway'))).toEqual(
      expected.map((finding) => expect.stringMatching(finding)),
    );
  });

  test('accepts a proxy that hides /readyz, as in compose.yaml, and an exhausted rate limit', async ({ diagnose }) => {
    const behindProxy = async (url: string) =>
      (await startNetwork(new URL(url).origin, ({ path }) => (path === '/readyz' ? 404 : undefined))).url;
    const { results } = await diagnoseWith(diagnose, { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' }, behindProxy);
    expect(problemsIn(results)).toEqual([]);
    expect(resultOf(results, 'Gateway')?.detail).toBe('It answers. Its proxy hides /readyz.');
    expect(resultOf(results, 'Gateway proxies')).toMatchObject({
      status: 'not checked',
      detail: expect.stringContaining('in a minute'),
    });
  });
});
