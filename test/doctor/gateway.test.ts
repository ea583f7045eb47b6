import { describe, expect, inject } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { freePort } from '../support/ports.ts';
import { type DoctorStack, problemsIn, resultOf, test } from './stack.ts';

describe.runIf(inject('stack').embedded)('npm run doctor with a gateway', () => {
  const gatewayOf = ({ environment }: DoctorStack, env: Record<string, string> = {}) =>
    startGateway({ ...environment, ...env });

  test('finds nothing to fix in a correct gateway', async ({ ownStack }) => {
    const gateway = await gatewayOf(ownStack);
    const results = await ownStack.diagnose({}, gateway.url);
    await gateway.close();
    expect(problemsIn(results)).toEqual([]);
    expect(resultOf(results, 'Gateway proxies')?.detail).toBe(
      'It sees this machine at 127.0.0.1, inside its own network, as it should.',
    );
    for (const check of ['Reads', 'API keys']) expect(resultOf(results, check)?.status).toBe('ok');
    for (const { operation } of endpoints.filter(({ method }) => method === 'get'))
      expect(gateway.logged.join('')).toContain(operation);
  });

  test.for<[string, Record<string, string>, string, RegExp]>([
    [
      'trusts no proxy but is behind one',
      { REQUIRE_HTTPS: 'true' },
      'Gateway https',
      /TRUST_PROXY to the number of proxies/,
    ],
    [
      'trusts more proxies than there are',
      { TRUST_PROXY: '1' },
      'Gateway proxies',
      /greater than the number of proxies/,
    ],
    ['cannot reach Supabase', { SUPABASE_URL: 'http://127.0.0.1:2' }, 'Gateway', /Read its log/],
  ])('reports a gateway that %s', async ([, env, check, remedy], { ownStack }) => {
    const gateway = await gatewayOf(ownStack, env);
    const results = await ownStack.diagnose({}, gateway.url);
    await gateway.close();
    expect(resultOf(results, check)?.status).toBe('problem');
    expect(resultOf(results, check)?.remedy).toMatch(remedy);
  });

  test('reports a gateway that mistakes a proxy for the client or answers over plain HTTP', async ({
    ownStack,
  }) => {
    const gateway = await gatewayOf(ownStack);
    // Reached at a public address, it sees a private one.
    const results = await ownStack.diagnose({}, gateway.url.replace('127.0.0.1', '0.0.0.0'));
    await gateway.close();
    expect(problemsIn(results)).toEqual(['Gateway https', 'Gateway proxies']);
    expect(resultOf(results, 'Gateway proxies')?.detail).toContain(
      'It mistakes a proxy (127.0.0.1) for the client',
    );
  });

  test('accepts a proxy that hides /readyz, as in compose.yaml', async ({ ownStack }) => {
    const gateway = await gatewayOf(ownStack);
    const network = await startNetwork(new URL(gateway.url).origin, ({ path }) =>
      path === '/readyz' ? 404 : undefined,
    );
    const results = await ownStack.diagnose({}, network.url);
    await gateway.close();
    expect(problemsIn(results)).toEqual([]);
    expect(resultOf(results, 'Gateway')?.detail).toBe('It answers. Its proxy hides /readyz.');
  });

  test('reports a gateway that does not answer', async ({ ownStack }) => {
    const results = await ownStack.diagnose({}, `http://127.0.0.1:${await freePort()}`);
    expect(problemsIn(results)).toEqual(['Gateway']);
    expect(resultOf(results, 'Gateway')?.detail).toContain('ECONNREFUSED');
  });

  test('does not report the proxies when the rate limit is used up', async ({ ownStack }) => {
    const gateway = await gatewayOf(ownStack, { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' });
    const results = await ownStack.diagnose({}, gateway.url);
    await gateway.close();
    expect(problemsIn(results)).toEqual([]);
    expect(resultOf(results, 'Gateway proxies')).toMatchObject({
      status: 'not checked',
      detail: expect.stringContaining('in a minute'),
    });
  });
});
