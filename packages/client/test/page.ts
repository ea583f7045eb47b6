import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { browserOfFile } from '../../../test/support/browser.ts';
import { fixture } from '../../../test/support/fixture.ts';
import { type Gateway, listen, startGateway } from '../../../test/support/gateway.ts';
import { test as base } from '../../../test/support/test.ts';

/**
 * Bundles a module of the client with its dependencies, minified, as an app does: parts that are loaded later share the
 * code of `client.js`. Returns `client.js` and these parts.
 */
export async function bundleClient(entry = 'packages/client/src/index.ts') {
  const output = { entryFileNames: 'client.js', chunkFileNames: '[name].js', minify: true };
  const [bundle] = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry, formats: ['es'] },
      rolldownOptions: { output, preserveEntrySignatures: 'allow-extension' },
    },
  })) as Rolldown.RolldownOutput[];
  return bundle?.output.filter((part) => part.type === 'chunk') ?? [];
}

interface Fixtures {
  $file: { browser: Browser; origin: string; gateway: Gateway };
  /** Opens an empty page in a new profile. The page can import the module of the client as `/client.js`. */
  $test: { open: (module?: string) => Promise<Page> };
}

/**
 * Test function with one browser for each file, which needs the tag `browser`, and a gateway that allows the origin of
 * its pages.
 */
export const test = base.extend<Fixtures>({
  browser: [browserOfFile, { scope: 'file' }],
  origin: [
    fixture(async (use) => {
      const server = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end('<!doctype html><title>An app</title><link rel="icon" href="data:,">');
      });
      const { port, close } = await listen(server);
      await use(`http://127.0.0.1:${port}`);
      await close();
    }),
    { scope: 'file' },
  ],
  gateway: [
    async ({ origin }, use) => {
      const gateway = await startGateway({ CORS_ORIGINS: origin });
      await use(gateway);
      await gateway.close();
    },
    { scope: 'file' },
  ],
  open: async ({ browser, origin }, use) => {
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000); // shorter than the limit of a test, so that the error names the missing element
    await use(async (module) => {
      for (const { fileName, code: body } of await bundleClient(module))
        await context.route(`**/${fileName}`, (route) => route.fulfill({ contentType: 'text/javascript', body }));
      const page = await context.newPage();
      await page.goto(origin);
      return page;
    });
    await context.close();
  },
});
