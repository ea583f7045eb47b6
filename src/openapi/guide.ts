import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';

/** Guide for app developers, and its chapters. By the name of each: its file in the repository. */
const pages = {
  guide: 'docs/apps.md',
  'app-in-swift': 'examples/clients/swift.md',
  'app-in-kotlin': 'examples/clients/kotlin.md',
  'app-in-dart': 'examples/clients/dart.md',
};

type Page = keyof typeof pages;
export const pageNames = Object.keys(pages) as Page[];

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Returns the anchor of a heading, in the form of GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Returns the address of a link in a page as served, or null if the service does not serve its target. */
function addressOf(href: string, page: Page, addressIn: (target: Page, anchor: string) => string): string | null {
  if (/^https?:/.test(href)) return href;
  const [path = '', anchor = ''] = href.split('#');
  const target = path === '' ? pages[page] : posix.join(posix.dirname(pages[page]), path);
  if (target === 'docs/api.md') return '../docs';
  const name = pageNames.find((name) => pages[name] === target);
  return name === undefined ? null : addressIn(name, anchor);
}

/** Returns a page as Markdown, with links to the Markdown of the others. */
export const markdownOf = (page: Page): string =>
  read(pages[page]).replace(/\[([^\]]+)\]\(([^()\s]+\.md(?:#[\w-]+)?)\)/g, (_, text, href) => {
    const address = addressOf(href, page, (target, anchor) => [`${target}.md`, anchor].filter(Boolean).join('#'));
    return address === null ? text : `[${text}](${address})`;
  });

/** Returns the anchor in the HTML of all pages. Those of a chapter begin with its name. */
const anchorIn = (page: Page, anchor: string) => [page !== 'guide' && page, anchor].filter(Boolean).join('-');

type Heading = { level: number; id: string; html: string };

/** Renders a page, a chapter one level below the guide. @returns its HTML and its headings */
function render(page: Page): { html: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const isChapter = page !== 'guide';
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const id = anchorIn(page, isChapter && depth === 1 ? '' : anchorOf(text));
        const level = isChapter ? depth + 1 : depth;
        headings.push({ level, id, html });
        return `<h${level} id="${id}">${html}</h${level}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const address = addressOf(href, page, (target, anchor) => `#${anchorIn(target, anchor)}`);
        return address === null ? html : `<a href="${address}">${html}</a>`;
      },
    },
  });
  return { html: markdown.parse(read(pages[page]), { async: false }), headings };
}

/** Returns the page of /docs/guide: the guide and its chapters, with a table of contents. */
export function guidePage(): string {
  const rendered = pageNames.map(render);
  const contents = rendered
    .flatMap(({ headings }) => headings)
    .filter(({ level }) => level === 2)
    .map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`);
  return read('src/openapi/assets/guide.html')
    .replace('<!-- contents -->', () => contents.join('\n      '))
    .replace('<!-- guide -->', () => rendered.map(({ html }) => html).join('\n'));
}
