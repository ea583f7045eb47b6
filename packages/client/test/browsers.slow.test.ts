import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { canRunBrowser, launchBrowser } from '../../../test/support/browser.ts';
import { startDevice, testOn } from './device.ts';
import { favoriteTests } from './everywhere/favorites.ts';
import { playTests } from './everywhere/plays.ts';
import { retryTests } from './everywhere/retries.ts';
import { sessionTests } from './everywhere/session.ts';

/** The module that a page loads. */
const modules = {
  Chromium: 'packages/client/src/index.ts',
  'Chromium with what React Native has': 'packages/client/test/react-native.js',
};

describe.for(Object.entries(modules))('the client in %s', ([, module]) => {
  let browser: Browser;
  beforeAll(async () => {
    if (canRunBrowser) browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  const test = testOn((url, setting) => startDevice(url, { ...setting, at: { browser, module } }));
  test.beforeEach(({ skip }) => skip(!canRunBrowser, 'Install chromium to run the client in a browser.'));
  for (const addTests of [sessionTests, retryTests, favoriteTests, playTests]) addTests(test);
});
