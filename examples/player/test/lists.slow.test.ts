/** @module-tag browser */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../../../test/support/browser.ts';
import { button, fits, open, test } from './fixture.ts';

test.beforeAll(({ site }) => void site);

async function signIn(page: Page) {
  await button(page, 'Listen with the demo account').click();
  await page.getByRole('link', { name: 'Lists', exact: true }).waitFor();
}

const addTo = async (page: Page, id: string, name: string) => {
  await page.goto(`${page.url().split('#')[0]}#/sound/${id}`);
  await page.getByLabel('Add to a list').selectOption({ label: name });
  await page.getByText('The sound is in the list.').waitFor();
  const title = await page.getByRole('heading', { level: 1 }).innerText();
  await openList(page, name);
  await page.locator('.items').getByText(title).waitFor();
};

async function openList(page: Page, name: string) {
  await open(page, 'Lists');
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
}

const titlesOf = (page: Page) => page.locator('.items strong').allInnerTexts();

test('two devices edit a mix, one of them without a network, and it plays all its sounds at once', async ({
  site,
  visit,
}) => {
  const sounds = await site.sql`
    select id, title from public.sounds where is_active and not is_premium and audio_path is not null
    order by title limit 3`;
  const [first, second, third] = sounds.map(({ id }) => id);
  const titles = sounds.map(({ title }) => title);
  await visit('desk', async (desk) => {
    await signIn(desk);
    await open(desk, 'Lists');
    await desk.getByLabel('Name of a new list').fill('Night');
    await desk.getByLabel('Mix: all sounds at once').check();
    await button(desk, 'Make the list').click();
    await desk.getByRole('heading', { name: 'Night', exact: true, level: 1 }).waitFor();
    await addTo(desk, first, 'Night');

    const steps = async (phone: Page) => {
      await signIn(phone);
      await openList(phone, 'Night');
      await phone.context().setOffline(true);
      await addTo(phone, second, 'Night');
      await addTo(desk, third, 'Night');
      await phone.context().setOffline(false);
      for (const page of [phone, desk])
        await expect
          .poll(async () => {
            await openList(page, 'Night');
            return (await titlesOf(page)).toSorted();
          })
          .toEqual(titles);
      expect(await fits(phone)).toBe(true);
      expect(await violations(phone)).toEqual([]);
    };
    await visit('phone', steps, 'ERR_INTERNET_DISCONNECTED');

    await desk.getByLabel(`Volume: ${titles[0]}`).fill('0.4');
    await button(desk, 'Play Night').click();
    await button(desk, 'Pause the mix').waitFor();
    const heard = async () =>
      (await site.sql`select from public.history where sound_id = any (${[first, second, third]})`).length;
    await expect.poll(heard).toBe(3);
    expect(await violations(desk)).toEqual([]);
    const [stored] = await site.sql`select items from public.lists where name = 'Night'`;
    expect(stored?.['items']).toContainEqual({ sound_id: first, volume: 0.4 });
    await button(desk, 'Pause the mix').click();
    await button(desk, 'Play the mix').waitFor();
    await button(desk, 'Delete the list').click();
    await desk.getByText('No lists yet').waitFor();
  });
});
