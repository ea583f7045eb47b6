import { makeIdToken } from 'local-supabase/identity-provider';
import { describe, expect, inject } from 'vitest';

import { ageSignIn } from '../../../test/routes/age-sign-in.ts';
import { codeSentTo } from '../../../test/support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../../../test/support/project.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { faultsOf, startDevice, test, withoutRepeats } from './device.ts';

const { embedded, mailUrl } = inject('stack');
const confirming = testWithConfirmations();
const needsMail = 'Set TEST_SUPABASE_MAIL_URL to test mailed codes.';

describe('accounts', () => {
  test('a mailed code sets a forgotten password, and signs in only after that', async ({ device, skip }) => {
    skip(!mailUrl, needsMail);
    const { email, user } = device.account;
    await device.api.auth.signOut();
    device.events.length = 0;
    await device.api.auth.recover({ email });
    const code = await codeSentTo(mailUrl, email);
    expect(await device.api.auth.verify({ type: 'recovery', email, code })).toEqual(user);
    expect(await device.api.auth.user()).toBeNull();
    await expect(device.api.auth.setPassword({ password: 'short' })).rejects.toMatchObject({
      status: 400,
    });
    expect(device.events).toEqual([]);
    await device.api.auth.setPassword({ password: 'a new password' });
    expect(await device.api.auth.user()).toEqual(user);
    expect(device.events).toEqual([{ type: 'signedIn', user }]);
    await device.api.auth.signOut();
    await device.api.auth.signIn({ email, password: 'a new password' });
  });

  test('setPassword changes the password however long ago the user signed in', async ({
    device,
    start,
    sql,
  }) => {
    const { email, user } = device.account;
    await ageSignIn(sql, user.id);
    device.change({ expires_at: 0 }); // a refresh is no sign-in
    const change = { password: 'a new password', currentPassword: password };
    await expect(device.api.auth.setPassword({ password: 'a new password' })).rejects.toMatchObject({
      reason: 'recent_sign_in_required',
    });
    await expect(
      device.api.auth.setPassword({ ...change, currentPassword: 'a guess' }),
    ).rejects.toMatchObject({ reason: 'invalid_credentials' });
    await device.api.auth.setPassword(change);
    expect(device.events.every(({ type }) => type === 'refreshed')).toBe(true);
    expect(await device.api.me()).toMatchObject({ id: user.id });
    const other = await start();
    await expect(other.api.auth.signIn({ email, password })).rejects.toMatchObject({ status: 401 });
    await other.api.auth.signIn({ email, password: 'a new password' });
  });

  test('setPassword succeeds although its response was lost', async ({ device }) => {
    const { email } = device.account;
    device.network.after = faultsOf('POST /auth/password', 'cut');
    await device.api.auth.setPassword({ password: 'a new password' });
    await device.api.auth.signOut();
    await device.api.auth.signIn({ email, password: 'a new password' });
    await expect(device.api.auth.setPassword({ password: 'a new password' })).rejects.toMatchObject({
      reason: 'same_password',
    });
  });

  test('deleteAccount deletes the account and its data on the device', async ({ device }) => {
    const { email, user } = device.account;
    device.network.before = () => 'cut';
    await (await device.again(withoutRepeats)).favorites.add(crypto.randomUUID());
    device.network.before = () => undefined;
    await device.api.auth.deleteAccount();
    expect(device.events).toEqual([{ type: 'signedOut', user, reason: 'deleted' }]);
    expect([...device.store.items.keys()]).toEqual(['sounds.config']);
    await expect(device.api.auth.signIn({ email, password })).rejects.toMatchObject({ status: 401 });
  });

  test('deleteAccount succeeds although its response was lost', async ({ device }) => {
    device.network.after = faultsOf('DELETE /me', 'cut');
    await device.api.auth.deleteAccount();
    expect([...device.store.items.keys()]).toEqual(['sounds.config']);
  });

  test('deleteAccount fails when only the session has ended', async ({ device }) => {
    const { email } = device.account;
    device.change({ access_token: 'none of the service', refresh_token: 'nor this' });
    await expect(device.api.auth.deleteAccount()).rejects.toMatchObject({ status: 401 });
    await device.api.auth.signIn({ email, password });
  });

  test.runIf(embedded)('signInWithIdToken signs in with an ID token and its nonce', async ({ start }) => {
    const device = await start();
    const [email, nonce] = [newEmail(), 'a random value'];
    const idToken = await makeIdToken({ provider: 'google', email, nonce });
    expect(await device.api.auth.signInWithIdToken({ idToken, nonce })).toMatchObject({ email });
    expect(await device.api.me()).toMatchObject({ email });
  });
});

describe('accounts with confirmation of the address', () => {
  confirming.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

  confirming('verify signs in with a mailed code and sets the password sent with it', async ({ project }) => {
    const device = await startDevice(project.gatewayUrl);
    const email = newEmail();
    const { needsEmailConfirmation } = await device.api.auth.signUp({ email, password });
    expect(needsEmailConfirmation).toBe(true);
    expect(await device.api.auth.user()).toBeNull();
    await device.api.auth.resend({ email });
    const code = await codeSentTo(project.mailUrl, email);
    const account = { email, password: 'the password of the owner' };
    await device.api.auth.verify({ type: 'signup', code, fullName: 'Ada', ...account });
    expect(await device.api.me()).toMatchObject({ email, full_name: 'Ada' });
    await device.api.auth.signOut();
    await device.api.auth.signIn(account);
  });
});
