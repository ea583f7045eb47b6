import { readFileSync } from 'node:fs';
import type { Fault, ProxiedRequest } from './network.ts';

interface ForeignAnswer {
  name: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Answers that do not come from the service, of proxies, firewalls and networks. */
export const foreignAnswers: ForeignAnswer[] = JSON.parse(
  readFileSync('test/support/foreign-answers.json', 'utf8'),
).answers;

/** Prefix of the paths to which these answers redirect. */
export const moved = '/moved';

/** Returns the answer to a request. A redirect leads to the same path below `moved`. */
export function foreignFault({ status, headers, body }: ForeignAnswer, { path }: Pick<ProxiedRequest, 'path'>): Fault {
  const named = Object.entries(headers).map(([name, value]) => [name, value.replace('{moved}', moved + path)]);
  return { status, headers: Object.fromEntries(named), body };
}
