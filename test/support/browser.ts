import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The Chromium on this machine, if there is one. Without a window it needs a fifth of the processor time. */
const binary = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));

/** False where no browser is installed, which is an error in CI. */
export const canRunBrowser = binary !== undefined;
if (!canRunBrowser && process.env['CI']) throw new Error('chromium must be installed in CI.');

export type View = { width: number; colorScheme: 'light' | 'dark' };

/** The errors and warnings on the console, and every address that was requested. */
export type Record = { complaints: string[]; requests: URL[] };

export const launchBrowser = () => chromium.launch({ executablePath: binary ?? '' });

/** Opens a page in a separate browser, and closes that afterwards. */
export async function inBrowser(url: string, view: View, visit: Visit) {
  const browser = await launchBrowser();
  try {
    await inProfile(browser, url, view, visit);
  } finally {
    await browser.close();
  }
}

type Visit = (page: Page, record: Record) => Promise<void>;

/** Opens a page in a new profile of a browser, and closes that afterwards. */
export async function inProfile(browser: Browser, url: string, { width, colorScheme }: View, visit: Visit) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(10_000); // less than a test has, so that the error says what the page shows
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
