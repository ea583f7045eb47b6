import { expect } from 'vitest';
import { htmlOf, pages } from '../../src/openapi/guide.ts';
import { test } from '../support/test.ts';

const markdownPages = pages.map((page) => `${page}.md`);

/** Returns the targets of the links in Markdown, without those in code. */
const linksOf = (markdown: string) =>
  [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

test('each page of the guide has a table of contents, and links only to what the service serves', () => {
  const html = new Map(pages.map((page) => [page as string, htmlOf(page)]));
  const idsOf = (page: string) => [...(html.get(page) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  for (const [page, text] of html) {
    expect(new Set(idsOf(page)).size).toBe(idsOf(page).length);
    const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href);
    expect(links.filter((link) => link.startsWith('#')).length).toBeGreaterThan(5);
    for (const link of links.filter((target) => !/^(?:https|mailto):/.test(target) && target !== '../docs')) {
      const [target = '', anchor] = link.split('#');
      expect([page, ...pages, ...markdownPages], link).toContain(target || page);
      if (anchor) expect(idsOf(target || page), link).toContain(anchor);
    }
  }
});

test('llms.txt and the guide in Markdown link only to what the service serves', async ({ gateway }) => {
  const linked = new Set<string>();
  for (const name of ['llms.txt', ...markdownPages]) {
    const response = await fetch(`${gateway.url}/docs/${name}`);
    expect(response.headers.get('Content-Type')).toMatch(name === 'llms.txt' ? /^text\/plain/ : /^text\/markdown/);
    const text = await response.text();
    // The form of llmstxt.org: title, summary, text, and sections of links.
    if (name === 'llms.txt')
      expect(text).toMatch(/^# .+\n\n(?:> .+\n)+\n(?:.+\n)+(?:\n## .+\n\n(?:- \[.+\]\(.+\): .+\n)+)+$/);
    for (const link of linksOf(text)) if (!/^https:|^#/.test(link)) linked.add(link.replace(/#.*/, ''));
  }
  const served = ['../docs', '../openapi-open.json', '../openapi.json', ...markdownPages];
  expect([...linked].sort()).toEqual(served.sort());
  for (const link of linked) expect((await fetch(`${gateway.url}/docs/${link}`)).status, link).toBe(200);
});
