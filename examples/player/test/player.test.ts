/** @module-tag browser */
import { demoAccount } from '@sounds-service/dev/seed';
import { expect } from 'vitest';
import { button, position, test, untilPlays } from './fixture.ts';

test.beforeAll(({ site }) => void site);

test('a user can sign in to the player and play a sound', async ({ visit }) => {
  await visit('phone', async (page) => {
    await page.getByLabel('E-mail address').fill(demoAccount.email);
    await page.getByLabel('Password').fill(demoAccount.password);
    await button(page, 'Sign in').click();
    await page.locator('.cards .listen').first().click();
    await untilPlays(page);
    await expect.poll(() => position(page)).toBeGreaterThan(0);
  });
});
