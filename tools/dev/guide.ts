import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';

const guide = 'docs/apps.md';

/** Chapters after the guide, by their paths in the repository. */
const chapters: Record<string, string> = {
  'examples/clients/swift.md': 'app-in-swift',
  'examples/clients/kotlin.md': 'app-in-kotlin',
  'examples/clients/dart.md': 'app-in-dart',
};

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Returns the anchor of a heading, in the form of GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Returns the address of a link on the served page, or null if the service does not serve its target. */
function addressOf(href: string, page: string): string | null {
  if (/^https?:/.test(href)) return href;
  const [path = '', anchor = ''] = href.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (target === 'docs/api.md') return '../docs';
  if (target === guide) return `#${anchor}`;
  const chapter = chapters[target];
  return chapter === undefined ? null : `#${[chapter, anchor].filter(Boolean).join('-')}`;
}

type Heading = { level: number; id: string; html: string };

/** Renders a page of the repository, a chapter one level below the guide. @returns its HTML and its headings */
function render(page: string): { html: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const chapter = chapters[page];
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const isTitle = chapter !== undefined && depth === 1;
        const id = [chapter, !isTitle && anchorOf(text)].filter(Boolean).join('-');
        const level = chapter === undefined ? depth : depth + 1;
        headings.push({ level, id, html });
        return `<h${level} id="${id}">${html}</h${level}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const address = addressOf(href, page);
        return address === null ? html : `<a href="${address}">${html}</a>`;
      },
    },
  });
  return { html: markdown.parse(read(page), { async: false }), headings };
}

/** Returns the page of /docs/guide: the guide for app developers, with a table of contents and chapters. */
export function guidePage(): string {
  const pages = [guide, ...Object.keys(chapters)].map(render);
  const contents = pages
    .flatMap(({ headings }) => headings)
    .filter(({ level }) => level === 2)
    .map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`);
  return read('tools/dev/guide-template.html')
    .replace('<!-- contents -->', () => contents.join('\n      '))
    .replace('<!-- guide -->', () => pages.map(({ html }) => html).join('\n'));
}
