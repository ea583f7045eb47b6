import { expect } from 'vitest';
import { guidePage, pageNames } from '../../src/openapi/guide.ts';
import { test } from '../support/test.ts';

/** Returns the targets of the links in Markdown, without those in code. */
const linksOf = (markdown: string) =>
  [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

test('the guide has a table of contents and links only to pages that the service serves', () => {
  const page = guidePage();
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `#${id}`);
  expect(new Set(ids).size).toBe(ids.length);
  const links = [...page.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href);
  expect(links.filter((href) => ids.includes(href)).length).toBeGreaterThan(15);
  const others = links.filter((href) => !ids.includes(href));
  expect(others.filter((href) => !/^https:|^\.\.\/docs$|^guide\.md$|^#$/.test(href))).toEqual([]);
});

test('llms.txt and the guide in Markdown link only to pages that the service serves', async ({ gateway }) => {
  const linked = new Set<string>();
  for (const name of ['llms.txt', ...pageNames.map((page) => `${page}.md`)]) {
    const response = await fetch(`${gateway.url}/docs/${name}`);
    expect(response.headers.get('Content-Type')).toMatch(name === 'llms.txt' ? /^text\/plain/ : /^text\/markdown/);
    const text = await response.text();
    // The form of llmstxt.org: title, summary, text, and sections of links.
    if (name === 'llms.txt')
      expect(text).toMatch(/^# .+\n\n(?:> .+\n)+\n(?:.+\n)+(?:\n## .+\n\n(?:- \[.+\]\(.+\): .+\n)+)+$/);
    for (const link of linksOf(text)) if (!/^https:|^#/.test(link)) linked.add(link.replace(/#.*/, ''));
  }
  expect([...linked].sort()).toEqual(
    ['../docs', '../openapi-open.json', '../openapi.json', ...pageNames.map((page) => `${page}.md`)].sort(),
  );
  for (const link of linked) expect((await fetch(`${gateway.url}/docs/${link}`)).status, link).toBe(200);
});
