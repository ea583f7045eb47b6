import { readFileSync } from 'node:fs';
import { Marked } from 'marked';

/** The name of a heading in links to it, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The guide for app developers, `docs/apps.md`, as the page at /docs/guide. */
export function guidePage(): string {
  const guide = markdown.parse(read('../../docs/apps.md'), { async: false });
  return read('guide-template.html').replace('<!-- guide -->', () => guide);
}
