import request from 'supertest';
import type { Gateway } from './gateway.ts';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Scrapes a gateway as Prometheus does. */
export async function scrape({ metricsUrl }: Gateway): Promise<Sample[]> {
  const { text } = await request(metricsUrl ?? '')
    .get('')
    .expect(200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

/** Returns the samples of a metric by their labels, without the buckets of a histogram. */
export function valuesOf(samples: Sample[], name: string): Record<string, number> {
  const named = samples.filter((sample) => sample.name === name);
  return Object.fromEntries(named.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}
