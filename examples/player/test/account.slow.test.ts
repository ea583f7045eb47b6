import { expect } from 'vitest';
import { codeSentTo } from '../../../test/support/mail.ts';
import { newEmail } from '../../../test/support/test.ts';
import { button, open, phone, test, typeIn } from './fixture.ts';

test('an account goes from a sign-up with a code through a forgotten password to its deletion', async ({
  dev,
  visit,
}) => {
  const email = newEmail();
  await visit(phone, async (page) => {
    await open(page, 'Create an account');
    await typeIn(page, 'Name', 'Ada');
    await typeIn(page, 'E-mail address', email);
    await typeIn(page, 'New password', 'the first one');
    await button(page, 'Create the account').click();
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    expect(await page.title()).toBe('Enter the code – Sounds');
    await page.keyboard.type('00000000'); // the field has the focus
    await button(page, 'Confirm').click();
    await page.getByText('The code is wrong').waitFor();
    await typeIn(page, 'Code', await codeSentTo(dev.supabaseUrl, email));
    await button(page, 'Confirm').click();
    await open(page, 'Account');
    await page.getByText(`Ada, ${email}`).waitFor();
    await typeIn(page, 'Current password', 'the first one');
    await typeIn(page, 'New password', 'the second one');
    await button(page, 'Change the password').click();
    await page.getByText('The password is changed.').waitFor();
    await button(page, 'Sign out').click();

    await open(page, 'Forgot your password?');
    await typeIn(page, 'E-mail address', email);
    await button(page, 'Send a code').click();
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await typeIn(page, 'Code', await codeSentTo(dev.supabaseUrl, email, 2));
    await button(page, 'Continue').click();
    await typeIn(page, 'New password', 'the third one');
    await button(page, 'Set the password').click();

    await open(page, 'Account');
    await button(page, 'Delete the account …').click();
    await page
      .getByText(`${email}, your name, your favorites and your history are deleted for good`)
      .waitFor();
    const color = await page.evaluate("getComputedStyle(document.querySelector('form button')).color");
    expect(color).toBe('rgb(163, 21, 21)');
    await typeIn(page, 'Password', 'the third one');
    await button(page, 'Delete for good').click();
    await page.getByText('The account is gone.').waitFor();
    await typeIn(page, 'E-mail address', email);
    await typeIn(page, 'Password', 'the third one');
    await button(page, 'Sign in').click();
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
  });
});
