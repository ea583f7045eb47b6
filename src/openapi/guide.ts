import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';

/** Files of the guide for app developers, and of the code for languages other than TypeScript, by name. */
const files = {
  guide: 'docs/apps.md',
  'app-in-swift': 'examples/clients/swift.md',
  'app-in-kotlin': 'examples/clients/kotlin.md',
  'app-in-dart': 'examples/clients/dart.md',
};

type Page = keyof typeof files;
export const pages = Object.keys(files) as Page[];

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Returns the Markdown of a page, with links only to what the service serves. @param ending of linked pages */
export const markdownOf = (page: Page, ending = '.md'): string =>
  read(files[page]).replace(/\[([^\]]+)\]\(([^()\s]+\.md)(#[\w-]+)?\)/g, (_, text, path, anchor = '') => {
    const file = posix.join(posix.dirname(files[page]), path);
    if (file === 'docs/api.md') return `[${text}](../docs)`;
    const target = pages.find((name) => files[name] === file);
    return target === undefined ? text : `[${text}](${target}${ending}${anchor})`;
  });

/** Returns the anchor of a heading, in the form of GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Returns the HTML of a page, with a table of contents. */
export function htmlOf(page: Page): string {
  const contents: string[] = [];
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const id = anchorOf(text);
        if (depth === 2) contents.push(`<li><a href="#${id}">${html}</a></li>`);
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
    },
  });
  const html = markdown.parse(markdownOf(page, ''), { async: false });
  return read('src/openapi/assets/guide.html')
    .replaceAll('<!-- page -->', page)
    .replace('<!-- contents -->', () => contents.join('\n      '))
    .replace('<!-- text -->', () => html);
}
