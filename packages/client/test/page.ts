import type { Browser, BrowserContext, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Options, Sounds } from '../src/index.ts';

/** Functions that the test shares with the page, by their names on the page. */
type Shared = Record<'getItem' | 'setItem' | 'removeItem' | 'onSession', (...args: never[]) => unknown>;

type OnPage = { api: object } & Shared;

/** A profile of a browser for one test, whose pages have the store and the listener of the device. */
export async function openProfile(
  browser: Browser,
  { store, onSession }: Pick<Options, 'store' | 'onSession'>,
) {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(15_000);
  for (const [name, call] of Object.entries({ ...store, onSession }))
    if (typeof call === 'function') await context.exposeFunction(name, call);
  return context;
}

/** Opens a page of a service, and makes a client on it. @returns that client, used from here */
export async function openPage(context: BrowserContext, origin: string, timeLimitMs?: number) {
  const page = await context.newPage();
  await page.goto(origin);
  await page.evaluate(
    async ({ module, ...options }) => {
      const { createSounds } = await import(module);
      const here = globalThis as unknown as OnPage;
      const { getItem, setItem, removeItem, onSession } = here;
      here.api = createSounds({ store: { getItem, setItem, removeItem }, onSession, ...options });
    },
    { module: '/client.js', url: `${origin}/api/v1`, ...(timeLimitMs !== undefined && { timeLimitMs }) },
  );
  return remote(page, []) as Sounds;
}

/** Stands for what a page has under a path: to call it is to call that. */
function remote(page: Page, path: string[]): unknown {
  return new Proxy(() => {}, {
    // A promise has `then`; this is none.
    get: (_, name) => (name === 'then' ? undefined : remote(page, [...path, String(name)])),
    apply: (_target, _this, args) => {
      const called = call(page, path, args);
      const iterate = async function* () {
        yield* (await called) as unknown[];
      };
      return Object.assign(called, { [Symbol.asyncIterator]: iterate });
    },
  });
}

async function call(page: Page, path: string[], args: unknown[]) {
  const { value, failure } = await page.evaluate(
    ([names, given]) => {
      type Objects = { [name: string]: Objects } & ((...args: unknown[]) => Promise<unknown>);
      const { api } = globalThis as unknown as { api: Objects };
      const called = names.reduce((object, name) => object[name] as Objects, api);
      const read = async () => {
        const result = called(...given);
        if (!(Symbol.asyncIterator in result)) return result;
        const items: unknown[] = [];
        for await (const item of result as AsyncIterable<unknown>) items.push(item);
        return items;
      };
      return read().then(
        (value) => ({ value, failure: null }),
        (error: Error) => ({ value: null, failure: { ...error, name: error.name, message: error.message } }),
      );
    },
    [path, args] as const,
  );
  if (failure) throw Object.assign(new Error(failure.message), failure);
  return value;
}
