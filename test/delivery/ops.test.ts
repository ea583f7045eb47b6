import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { apiAt } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { type Sample, scrape } from '../support/metrics.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { newEmail, password, test } from '../support/test.ts';

type Rule = { alert: string; expr: string; annotations: { summary: string } };
type Panel = { type: string; title: string; targets?: { expr: string; legendFormat: string }[] };

const rules: Rule[] = parse(readFileSync('ops/alerts.yaml', 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const dashboard: { panels: Panel[] } = JSON.parse(readFileSync('ops/grafana-dashboard.json', 'utf8'));
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ where: title, expr, text: legendFormat })),
);
const alerts = rules.map(({ alert, expr, annotations }) => ({
  where: alert,
  expr,
  text: annotations.summary.replaceAll('$labels.', ''),
}));

/** Metric and labels that Prometheus adds. */
const ofPrometheus = { up: ['job', 'instance'], labels: ['job', 'instance'] };

/** Returns the metrics of an expression with the labels of their selectors, and the labels that it groups by. */
function namesIn(query: string) {
  const expr = query.replaceAll('$__rate_interval', '5m');
  const selectors: { metric: string; labels: string[] }[] = [];
  const groups: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ name, type, from, to, node }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`Not PromQL at ${from}: ${expr}`);
      if (name === 'Identifier') selectors.push({ metric: text, labels: [] });
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') groups.push(text);
      else selectors.at(-1)?.labels.push(text);
    },
  });
  return { selectors, groups };
}

/** Returns the series that a gateway exposes after some traffic, with their labels, and the metrics that it declares. */
async function exposed() {
  const redis = await startRedis();
  const gateway = await startGateway({ METRICS_PORT: '0', REDIS_URL: redis.url });
  await apiAt(gateway.url).post('/auth/signin').send({ email: newEmail(), password });
  let samples: Sample[] = [];
  await expect
    .poll(async () => {
      samples = await scrape(gateway);
      return samples.map(({ name }) => name);
    })
    .toContain('sounds_http_request_duration_seconds_count');
  const text = await (await fetch(gateway.metricsUrl ?? '')).text();
  const declared = [...text.matchAll(/^# TYPE (sounds_\w+) /gm)].map(([, metric = '']) => metric);
  await gateway.close();
  await redis.stop();
  const series = new Map<string, Set<string>>([['up', new Set(ofPrometheus.up)]]);
  for (const { name, labels } of samples) {
    const known = series.get(name) ?? new Set(ofPrometheus.labels);
    series.set(name, known.union(new Set(Object.keys(labels))));
  }
  return { series, declared };
}

describe('ops/alerts.yaml and ops/grafana-dashboard.json', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to see the metrics of shared limits.'),
  );

  test('alerts and panels use only metrics and labels that the gateway exposes', async () => {
    const { series } = await exposed();
    expect(queries.length).toBeGreaterThan(15);
    expect(alerts.length).toBeGreaterThan(8);
    for (const { where, expr, text } of [...queries, ...alerts]) {
      const { selectors, groups } = namesIn(expr);
      const shown = [...text.matchAll(/\{\{\s*([a-z]\w*)\s*\}\}/g)].map(([, label = '']) => label);
      expect(selectors, where).not.toEqual([]);
      for (const { metric, labels } of selectors) {
        expect([...series.keys()], where).toContain(metric);
        expect([...(series.get(metric) ?? [])], `${where}: ${metric}`).toEqual(
          expect.arrayContaining(labels),
        );
      }
      const available = selectors.flatMap(({ metric }) => [...(series.get(metric) ?? [])]);
      expect(available, where).toEqual(expect.arrayContaining([...groups, ...shown]));
    }
  });

  test('the dashboard shows every metric of the gateway', async () => {
    const { declared } = await exposed();
    const shown = queries.flatMap(({ expr }) => namesIn(expr).selectors.map(({ metric }) => metric));
    const histograms = shown.map((metric) => metric.replace(/_(bucket|count)$/, ''));
    expect(declared.length).toBeGreaterThan(5);
    expect(declared.filter((metric) => ![...shown, ...histograms].includes(metric))).toEqual([]);
  });
});
