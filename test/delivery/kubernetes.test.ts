import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig, variableNames } from '../../src/config.ts';

// biome-ignore lint/suspicious/noExplicitAny: seven kinds, whose types would be longer than what is read of them
type Manifest = { apiVersion: string; kind: string; metadata: any; spec: any };

const source = readFileSync('ops/kubernetes.yaml', 'utf8');
const manifests = parseAllDocuments(source).map((document) => document.toJS() as Manifest);
const only = (kind: string) => {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found, kind).toHaveLength(1);
  return structuredClone(found[0] as Manifest);
};

describe('ops/kubernetes.yaml', () => {
  test('configures a gateway that starts, with nothing secret in the file', () => {
    const [{ env, envFrom, ports }] = only('Deployment').spec.template.spec.containers;
    const set: Record<string, string> = Object.fromEntries(
      env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    const command = source.slice(0, source.indexOf('apiVersion')).replaceAll('…', 'x.example.com');
    const secret = Object.fromEntries(
      [...command.matchAll(/--from-literal=(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    expect(variableNames()).toEqual(expect.arrayContaining([...Object.keys(set), ...Object.keys(secret)]));
    const config = loadConfig({ ...secret, ...set });
    expect(config.secrets.redisUrl).toBe('redis://redis:6379');
    expect(config).toMatchObject({ requireHttps: true, trustProxy: 1 });
    expect(ports).toEqual([
      { name: 'http', containerPort: config.port },
      { name: 'metrics', containerPort: config.metricsPort },
    ]);
    expect(envFrom).toEqual([{ secretRef: { name: 'sounds-service' } }]);
  });

  test('gives a gateway the time to end by itself, and what compose.yaml gives it', () => {
    const { spec } = only('Deployment').spec.template;
    const [container] = spec.containers;
    const grace = container.env.find(({ name }: { name: string }) => name === 'SHUTDOWN_GRACE_SECONDS').value;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      container.lifecycle.preStop.sleep.seconds + Number(grace) + 5,
    );
    const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }).services['gateway-a'];
    expect(container.resources.limits.memory).toBe(compose.mem_limit.replace('m', 'Mi'));
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: compose.read_only,
      capabilities: { drop: compose.cap_drop },
    });
  });

  test('leads from the Ingress to the pods', () => {
    const { template, selector } = only('Deployment').spec;
    const { labels } = template.metadata;
    expect(selector.matchLabels).toEqual(labels);
    expect(only('Service').spec.selector).toEqual(labels);
    for (const kind of ['PodDisruptionBudget', 'NetworkPolicy']) {
      const { spec } = only(kind);
      expect((spec.selector ?? spec.podSelector).matchLabels, kind).toEqual(labels);
    }
    const [port] = only('Service').spec.ports;
    expect(template.spec.containers[0].ports).toContainEqual(
      expect.objectContaining({ name: port.targetPort }),
    );
    const [{ backend }] = only('Ingress').spec.rules[0].http.paths;
    expect(backend.service).toEqual({ name: only('Service').metadata.name, port: { name: port.name } });
    expect(only('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(only('Deployment').metadata.name);
  });
});
