import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { fixture } from './fixture.ts';
import { pathOf } from './tools.ts';

export interface View {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** Errors and warnings on the console, and all requested addresses. */
interface Record {
  complaints: string[];
  requests: URL[];
}

/** Starts Chromium for a test with the tag `browser`. */
export const launchBrowser = () => chromium.launch({ executablePath: pathOf('browser') });

/** Defines the fixture `browser` with the scope `file`, because the start of a browser takes longer than most pages. */
export const browserOfFile = fixture<Browser>(async (use) => {
  const browser = await launchBrowser();
  await use(browser);
  await browser.close();
});

type Visit = (page: Page, record: Record) => Promise<void>;

/** Opens a page in a new profile of a browser, and closes the profile afterwards. */
export async function inProfile(browser: Browser, url: string, { width, colorScheme }: View, visit: Visit) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000); // shorter than the limit of a test, so that the error shows the page
    const record: Record = { complaints: [], requests: [] };
    page.on('console', (message) => {
      if (message.type() !== 'info') record.complaints.push(message.text());
    });
    page.on('pageerror', (error) => record.complaints.push(error.message));
    page.on('request', (request) => record.requests.push(new URL(request.url())));
    await page.goto(url);
    await visit(page, record).catch(async (cause) => {
      const shown = await page.locator('body').innerText();
      throw new Error(`${cause}\nAt ${page.url()}\n${record.complaints.join('\n')}\n${shown}`, { cause });
    });
  } finally {
    await context.close();
  }
}

const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns violations of accessibility rules, found by axe, which runs outside of the policy of the page. */
export async function violations(page: Page) {
  await page.evaluate(axe());
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
}
