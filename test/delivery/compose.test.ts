import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config.ts';

describe('.github/dependabot.yml', () => {
  test('asks every week for new versions of packages, actions and images', () => {
    const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as {
      updates: { 'package-ecosystem': string; directory: string; schedule: { interval: string } }[];
    };
    const ecosystems = updates.map((update) => update['package-ecosystem']).toSorted();
    expect(ecosystems).toEqual(['docker', 'docker-compose', 'github-actions', 'npm']);
    for (const { directory, schedule } of updates)
      expect([directory, schedule.interval]).toEqual(['/', 'weekly']);
  });
});

type ComposeService = {
  command?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  networks?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  stop_grace_period?: string;
  healthcheck?: object;
};

describe('compose.yaml', () => {
  const filledIn = readFileSync('compose.yaml', 'utf8').replace(/\$\{REDIS_PASSWORD[^}]*\}/g, 'of-redis');
  const { services, networks } = parse(filledIn, { merge: true }) as {
    services: Record<string, ComposeService>;
    networks: Record<string, { name?: string; internal?: boolean }>;
  };
  const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway'));

  test('runs two gateways that share limits, trust the one proxy, insist on https and are given time to end', () => {
    expect(gateways).toHaveLength(2);
    for (const [, { environment: decided, read_only, stop_grace_period }] of gateways) {
      const example = parseEnv(readFileSync('.env.example', 'utf8')) as Record<string, string>;
      const config = loadConfig({ ...example, ...decided });
      expect(config).toMatchObject({ port: 3000, trustProxy: 1, requireHttps: true });
      const { hostname, password } = new URL(config.secrets.redisUrl ?? '');
      expect([hostname, password]).toEqual(['redis', 'of-redis']);
      expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(config.shutdownGraceSeconds);
      expect(read_only).toBe(true);
    }
  });

  test('lets nobody past the proxy, which knows both gateways', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['proxy']);
    const addresses = gateways.map(([name]) => `${name}:3000`).join(' ');
    expect(readFileSync('ops/Caddyfile', 'utf8')).toContain(`reverse_proxy ${addresses} {`);
  });

  test('takes from every service the rights and the memory that it does not need', () => {
    for (const [name, { cap_drop, security_opt, mem_limit }] of Object.entries(services)) {
      expect([cap_drop, security_opt], name).toEqual([['ALL'], ['no-new-privileges:true']]);
      expect(mem_limit, name).toMatch(/^\d+m$/);
    }
  });

  test('has a Redis with a password, in a network of its own with the gateways, which Prometheus is not in', () => {
    expect(services['redis']?.command?.join(' ')).toContain('--requirepass of-redis ');
    expect(networks).toEqual({ default: { name: 'sounds-service' }, redis: { internal: true } });
    const inNetwork = Object.entries(services).filter(([, { networks = ['default'] }]) =>
      networks.includes('redis'),
    );
    expect(inNetwork.map(([name]) => name)).toEqual(['gateway-a', 'gateway-b', 'redis']);
    expect(services['redis']?.networks).toEqual(['redis']);
  });

  test('starts a service when those that it needs are healthy, which each of these can tell', () => {
    const tells = (name: string) => name.startsWith('gateway') || services[name]?.healthcheck !== undefined;
    const needed = Object.values(services).flatMap(({ depends_on = {} }) => Object.entries(depends_on));
    expect(needed.length).toBeGreaterThan(2);
    for (const [name, { condition }] of needed) {
      expect(condition).toBe('service_healthy');
      expect(tells(name), name).toBe(true);
    }
  });
});
