import { BlockList, isIP } from 'node:net';
import { accessToken, addressForwarding, sessionAddresses } from './identity.ts';
import { clock, compareClocks } from './project.ts';
import { NotChecked, Problem } from './result.ts';
import { askGateway, check, type Run } from './run.ts';

export const readiness = check('Gateway', [], async (run) => {
  const { status, body } = await askGateway(run, '/readyz');
  if (status === 200) return 'It is ready.';
  if (status === 404 && (await askGateway(run, '/healthz')).status === 200)
    return 'It answers. Its proxy hides /readyz.';
  const { checks = {} } = body as { checks?: Record<string, { ok: boolean }> };
  const failing = Object.keys(checks).filter((name) => !checks[name]?.ok);
  throw new Problem(
    `It is not ready (${[status, ...failing].join(', ')}).`,
    'Read its log. Fix the problems above first, because they may be the cause.',
  );
});

export const gatewayClock = check('Gateway clock', [readiness, clock], (run) =>
  compareClocks(run, 'the gateway', async () => {
    const { headers } = await askGateway(run, '/healthz');
    return Date.parse(headers.get('date') ?? '');
  }),
);

const tooFew =
  'Set TRUST_PROXY to the number of proxies between clients and the gateway; each must add to X-Forwarded-For and set X-Forwarded-Proto.';

export const https = check('Gateway https', [readiness], async (run) => {
  const { status } = await askGateway(run, '/api/v1/categories');
  const protocol = run.gateway?.protocol.slice(0, -1);
  if (status !== 200) throw new Problem(`It rejects a request that came over ${protocol} (${status}).`, tooFew);
  if (protocol === 'https') return 'It recognizes requests that come over https.';
  if (isInner(hostOf(run))) throw new NotChecked('This can only be checked from outside its network.');
  throw new Problem(
    'It answers over plain http: passwords and tokens can be read in transit.',
    'Set REQUIRE_HTTPS=true and put a proxy that ends TLS in front.',
  );
});

const inner = new BlockList();
for (const network of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8']) {
  const [address = '', bits] = network.split('/');
  inner.addSubnet(address, Number(bits));
}
inner.addSubnet('fc00::', 7, 'ipv6');
inner.addAddress('::1', 'ipv6');

const hostOf = ({ gateway }: Run) =>
  (gateway?.hostname ?? '').replace(/^\[|\]$/g, '').replace(/^localhost$/, '127.0.0.1');
const isInner = (address: string) => inner.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'); // false for names

/** Number of requests. Enough for two at each of several gateways that share no Redis. */
const claims = 12;

/** Tells whether the gateway trusts an X-Forwarded-For that the client sends. */
async function believesClients(run: Run): Promise<boolean> {
  const left = new Set<string | null>();
  for (let last = 1; last <= claims; last++) {
    const headers = { 'X-Forwarded-For': `198.51.100.${last}` };
    const answer = await askGateway(run, '/api/v1/categories', { headers });
    left.add(answer.headers.get('x-ratelimit-remaining'));
  }
  return left.size === 1;
}

export const proxies = check('Gateway proxies', [readiness, addressForwarding, accessToken], async (run) => {
  if (await believesClients(run))
    throw new Problem(
      'It trusts any address in X-Forwarded-For, so that clients can evade the rate limits.',
      'TRUST_PROXY is greater than the number of proxies: lower it.',
    );
  const { email, password } = run.account;
  const known = (await sessionAddresses(run)).length;
  await askGateway(run, '/api/v1/auth/signin', { body: { email, password } });
  // A server that listens on IPv6 reports an IPv4 address as ::ffff:192.0.2.1.
  const address = (await sessionAddresses(run))[known]?.replace(/^::ffff:/, '');
  if (!address) throw new NotChecked('Auth recorded no address for the sign-in.');
  if (!isInner(address))
    return `It sees this machine at ${address}. Compare that with the public address of this machine.`;
  if (isInner(hostOf(run))) return `It sees this machine at ${address}, inside its own network, as it should.`;
  throw new Problem(
    `It mistakes a proxy (${address}) for the client: all app users share its limits.`,
    `${tooFew} If the doctor runs in the network of the gateway, run it from outside.`,
  );
});
