import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { apiAt } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { scrape } from '../support/metrics.ts';
import { startRedis } from '../support/redis.ts';
import { newEmail, password, test } from '../support/test.ts';

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string };
}
interface Panel {
  type: string;
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}

const alerts = parse(readFileSync('ops/alerts.yaml', 'utf8'))
  .groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
  .map(({ alert, expr, annotations: { summary } }: Rule) => ({
    where: alert,
    expr,
    text: summary.replaceAll('$labels.', ''),
  })) as { where: string; expr: string; text: string }[];
const dashboard: { panels: Panel[] } = JSON.parse(readFileSync('ops/grafana-dashboard.json', 'utf8'));
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ where: title, expr, text: legendFormat })),
);

/** Returns the metrics of an expression with the labels of their selectors, and the labels of its groups. */
function namesIn(query: string) {
  const expr = query.replaceAll('$__rate_interval', '5m');
  const selectors: { metric: string; labels: string[] }[] = [];
  const groups: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ name, type, from, to, node }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`Invalid PromQL at ${from}: ${expr}`);
      if (name === 'Identifier') selectors.push({ metric: text, labels: [] });
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') groups.push(text);
      else selectors.at(-1)?.labels.push(text);
    },
  });
  return { selectors, groups };
}

test('alerts and panels use only metrics and labels of the gateway, and panels use all metrics', {
  tags: ['redis'],
}, async () => {
  const redis = await startRedis();
  const gateway = await startGateway({ METRICS_PORT: '0', REDIS_URL: redis.url });
  await apiAt(gateway.url).post('/auth/signin').send({ email: newEmail(), password });
  const names = async () => (await scrape(gateway)).map(({ name }) => name);
  await expect.poll(names).toContain('sounds_http_request_duration_seconds_count');
  const samples = await scrape(gateway);
  const declared = (await (await fetch(gateway.metricsUrl ?? '')).text()).matchAll(/^# TYPE (sounds_\w+) /gm);
  await gateway.close();
  await redis.stop();
  // Prometheus adds the metric `up`, and two labels to every metric.
  const labelsOf = new Map([['up', new Set(['job', 'instance'])]]);
  for (const { name, labels } of samples)
    labelsOf.set(name, new Set(['job', 'instance', ...(labelsOf.get(name) ?? []), ...Object.keys(labels)]));

  expect([queries.length > 15, alerts.length > 8]).toEqual([true, true]);
  for (const { where, expr, text } of [...queries, ...alerts]) {
    const { selectors, groups } = namesIn(expr);
    const shown = [...text.matchAll(/\{\{\s*([a-z]\w*)\s*\}\}/g)].map(([, label = '']) => label);
    expect(selectors, where).not.toEqual([]);
    for (const { metric, labels } of selectors)
      expect([...(labelsOf.get(metric) ?? [])], `${where}: ${metric}`).toEqual(
        expect.arrayContaining([...labels, 'job']),
      );
    const available = selectors.flatMap(({ metric }) => [...(labelsOf.get(metric) ?? [])]);
    expect(available, where).toEqual(expect.arrayContaining([...groups, ...shown]));
  }

  const shown = queries.flatMap(({ expr }) => namesIn(expr).selectors.map(({ metric }) => metric));
  const known = new Set(shown.flatMap((metric) => [metric, metric.replace(/_(bucket|count)$/, '')]));
  const ofGateway = [...declared].map(([, metric = '']) => metric);
  expect(ofGateway.length).toBeGreaterThan(5);
  expect(ofGateway.filter((metric) => !known.has(metric))).toEqual([]);
});
