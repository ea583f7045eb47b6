/** @module-tag browser */
import type { Browser, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { mailUrl, noMail, other } from '../routes/mailed-codes.ts';
import { browserOfFile, inProfile, type View, violations } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { test as base, clientWith, newUser } from '../support/test.ts';

const test = base.extend<{ $file: { browser: Browser } }>({ browser: [browserOfFile, { scope: 'file' }] });

const phone: View = { width: 320, colorScheme: 'light' };
const desk: View = { width: 1280, colorScheme: 'dark' };

const urlOf = ({ url }: { url: string }) => `${url}/account-deletion`;
const message = (page: Page) => page.getByRole('status');

async function ask(page: Page, email: string) {
  await page.getByLabel('E-mail address').fill(email);
  await page.keyboard.press('Enter');
}

describe('GET /account-deletion', () => {
  test('the page is one file and runs no code of other hosts', async ({ gateway }) => {
    const response = await fetch(urlOf(gateway));
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    const html = await response.text();
    expect(html).toContain('Delete your account of this app');
    expect(html).not.toMatch(/\b(src|href)="(?!data:)/);
    const policy = response.headers.get('Content-Security-Policy');
    expect(policy).toMatch(/default-src 'none'.*script-src 'sha256-[^']+';style-src 'sha256-/);
    const withSlash = await fetch(`${urlOf(gateway)}/`, { redirect: 'manual' });
    expect([withSlash.status, withSlash.headers.get('Location')]).toEqual([301, '../account-deletion']);
    expect((await fetch(urlOf(gateway), { method: 'POST' })).status).toBe(405);
  });

  test('names the app, whatever characters its name has', async () => {
    const gateway = await startGateway({ APP_NAME: 'Rain & <b>Sleep</b> $& $$' });
    onTestFinished(gateway.close);
    const html = await (await fetch(urlOf(gateway))).text();
    expect(html).toContain('<h1>Delete your account of Rain &amp; &lt;b&gt;Sleep&lt;/b&gt; $&amp; $$</h1>');
  });

  test.skipIf(!mailUrl)(`deletes the account after the right code [${noMail}]`, async ({ browser, gateway, api }) => {
    const { user, access_token } = await newUser(gateway);
    await inProfile(browser, urlOf(gateway), phone, async (page, { complaints, requests }) => {
      await ask(page, user.email);
      await page.getByLabel('Code from the mail').waitFor();
      const code = await codeSentTo(mailUrl, user.email);
      await page.keyboard.type(` ${code.slice(0, 4)} ${code.slice(4)} `); // the field has the focus
      await page.keyboard.press('Enter');
      await message(page).getByText('Your account is deleted.').waitFor();
      expect(complaints).toEqual([]);
      expect(requests.filter(({ origin }) => origin !== new URL(gateway.url).origin && origin !== 'null')).toEqual([]);
    });
    await clientWith(gateway, access_token).get('/me').expect(401);
    await api.post('/auth/signin').send({ email: user.email, password: 'correct horse' }).expect(401);
  });

  test.skipIf(!mailUrl)(
    `says that a code is wrong, five times, and deletes nothing [${noMail}]`,
    async ({ browser, gateway }) => {
      const { user, app } = await newUser(gateway);
      await inProfile(browser, urlOf(gateway), phone, async (page) => {
        await ask(page, user.email);
        const code = other(await codeSentTo(mailUrl, user.email));
        const field = page.getByLabel('Code from the mail');
        for (let attempt = 1; attempt <= 5; attempt++) {
          await field.fill(code);
          await page.getByRole('button', { name: 'Delete my account for good' }).click();
          await message(page).getByText('This code is wrong').waitFor();
        }
      });
      await app.get('/me').expect(200);
    },
  );

  test('answers an unknown address as a known one', async ({ browser, gateway }) => {
    const { user } = await newUser(gateway);
    await inProfile(browser, urlOf(gateway), phone, async (page) => {
      const messages: string[] = [];
      for (const email of [user.email, `unknown-${user.email}`]) {
        await ask(page, email);
        await page.getByLabel('Code from the mail').waitFor();
        messages.push(await message(page).innerText());
        await page.getByRole('button', { name: 'Use another address' }).click();
      }
      expect(messages[0]).toContain('If there is an account');
      expect(messages[1]).toBe(messages[0]);
    });
  });

  test('tells when a limit ends', async ({ browser, gateway }) => {
    const { user } = await newUser(gateway);
    await inProfile(browser, urlOf(gateway), phone, async (page) => {
      // A network gets two mails an hour for one address.
      for (const _mail of [1, 2]) {
        await ask(page, user.email);
        await page.getByRole('button', { name: 'Use another address' }).click();
      }
      await ask(page, user.email);
      await message(page).filter({ hasText: 'Too many' }).waitFor();
      expect(await message(page).innerText()).toMatch(/^Too many attempts\. Try again in \d+ minutes\.$/);
    });
  });

  test.for([phone, desk])('passes axe and fits $width pixels in $colorScheme', async (view, { browser, gateway }) => {
    await inProfile(browser, urlOf(gateway), view, async (page) => {
      for (const step of ['ask', 'confirm']) {
        await page.evaluate(`show('${step}')`);
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
    });
  });
});
