import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { canRunBrowser, launchBrowser } from '../../../test/support/browser.ts';
import { test } from '../../../test/support/test.ts';
import { type Start, startDevice } from './device.ts';
import { favoriteTests } from './everywhere/favorites.ts';
import { playTests } from './everywhere/plays.ts';
import { retryTests } from './everywhere/retries.ts';
import { sessionTests } from './everywhere/session.ts';

/** What a page there is given. */
const modules = {
  Chromium: 'packages/client/src/index.ts',
  'Chromium with what React Native has': 'packages/client/test/react-native.js',
};

describe.for(Object.entries(modules))('in %s', ([, module]) => {
  let browser: Browser;
  beforeAll(async () => {
    if (canRunBrowser) browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  test.beforeEach(({ skip }) => skip(!canRunBrowser, 'Install chromium to run the client in a browser.'));
  const start: Start = (gatewayUrl, setting) =>
    startDevice(gatewayUrl, { ...setting, at: { browser, module } });

  describe('the session of a device', () => sessionTests(start));
  describe('a request that fails', () => retryTests(start));
  describe('favorites', () => favoriteTests(start));
  describe('plays', () => playTests(start));
});
