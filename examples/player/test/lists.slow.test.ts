/** @module-tag browser */
import { freeAccount } from '@sounds-service/dev/seed';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../../../test/support/browser.ts';
import { button, fits, open, playing, test, untilPlays } from './fixture.ts';

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
    const requested = new Set<string>();
    const loading = Promise.withResolvers<void>();
    await desk.route('**/object/sign/audio/**', async (route) => {
      requested.add(route.request().url());
      await loading.promise;
      await route.continue();
    });
    await button(desk, 'Play Night').click();
    await expect.poll(() => requested.size).toBe(3);
    await button(desk, 'Pause the mix').click(); // while it loads
    loading.resolve();
    await button(desk, 'Play the mix').click();
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

/** Records the audio elements of the page, and the handlers of the lock screen. */
const recorder = `{
  const { Audio } = globalThis;
  globalThis.elements = [];
  globalThis.Audio = function () {
    elements.push(new Audio());
    return elements.at(-1);
  };
  const session = navigator.mediaSession;
  globalThis.handlers = {};
  session.setActionHandler = (action, handler) => {
    handlers[action] = handler;
    MediaSession.prototype.setActionHandler.call(session, action, handler);
  };
}`;

test('a playlist plays in order, a mix at once until it stops, and both leave out locked sounds', async ({
  site: { sql },
  visit,
}) => {
  const [first, second] = await sql`
    select id, title from public.sounds where is_active and not is_premium and audio_path is not null
    order by title limit 2`;
  const [locked] = await sql`select id, title from public.sounds where is_premium and is_active limit 1`;
  const items = [first, locked, second].map((sound) => ({ sound_id: sound?.['id'], volume: null }));
  for (const list of [
    { name: 'Evening', is_mix: false },
    { name: 'Storm', is_mix: true },
  ])
    await sql`
      insert into public.lists (user_id, id, name, is_mix, items)
      select id, gen_random_uuid(), ${list.name}, ${list.is_mix}, ${sql.json(items)}
      from public.customers where email = ${freeAccount.email}`;

  await visit('desk', async (page) => {
    await page.clock.install();
    await page.addInitScript(recorder);
    await page.reload();
    await page.getByLabel('E-mail address').fill(freeAccount.email);
    await page.getByLabel('Password').fill(freeAccount.password);
    await button(page, 'Sign in').click();
    await page.locator('.cards').first().waitFor();
    const lockedRow = page.locator('.items li').filter({ hasText: locked?.['title'] });
    const toTheEnd = () =>
      page.evaluate('for (const one of elements.filter((each) => !each.paused)) one.currentTime = one.duration - 0.2');

    await openList(page, 'Evening');
    expect(await lockedRow.locator('.cover i').isVisible()).toBe(true);
    await button(page, 'Play Evening').click();
    await untilPlays(page);
    expect(await playing(page)).toBe(first?.['title']);
    await toTheEnd();
    await expect.poll(() => playing(page)).toBe(second?.['title']);
    await untilPlays(page);

    /** Returns the elements that play, true for each that repeats. */
    const heard = () =>
      page.evaluate('elements.filter((each) => !each.paused && each.readyState > 2).map(({ loop }) => loop)');
    const untilHeard = (loops: boolean[]) => expect.poll(heard).toEqual(loops);
    const [both, none] = [[true, true], []];
    await page.evaluate(`{
      globalThis.otherTab = new BroadcastChannel('player');
      otherTab.onmessage = () => { globalThis.isTold = true; };
    }`);
    await openList(page, 'Storm');
    expect(await page.getByLabel(`Volume: ${locked?.['title']}`).count()).toBe(0);
    await button(page, 'Play Storm').click();
    await untilHeard(both);
    expect(await page.evaluate('[navigator.mediaSession.metadata.title, isTold]')).toEqual(['Storm', true]);
    await toTheEnd();
    await expect.poll(() => page.evaluate('elements.slice(1).every(({ currentTime }) => currentTime < 5)')).toBe(true);
    await untilHeard(both);

    await page.evaluate("otherTab.postMessage('playing')");
    await untilHeard(none);
    await button(page, 'Play the mix').click();
    await untilHeard(both);
    await page.evaluate('handlers.pause()');
    await untilHeard(none);
    expect(await page.evaluate('navigator.mediaSession.playbackState')).toBe('paused');
    await page.evaluate('handlers.play()');
    await untilHeard(both);
    await page.getByLabel('End the mix after').selectOption('5 min');
    await page.clock.fastForward('05:01');
    await untilHeard(none);

    await button(page, 'Play the mix').click();
    await untilHeard(both);
    await page.locator('#bar').getByRole('button', { name: 'Play', exact: true }).click();
    await untilHeard([false]);
    expect(await page.locator('#mix').isVisible()).toBe(false);
    expect(await page.evaluate('navigator.mediaSession.metadata.title')).toBe(second?.['title']);
  });
});
