import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { startSmallApple } from '@sounds-service/local-supabase/small-apple';
import { expect, inject } from 'vitest';
import { ageSignIn } from '../../../test/routes/age-sign-in.ts';
import { appleEnv } from '../../../test/support/apple.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { codeSentTo } from '../../../test/support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../../../test/support/project.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { errorAnswer, faultsOf, startDevice, test, withoutRepeats } from './device.ts';

const { embedded, mailUrl } = inject('stack');
const newPassword = { password: 'a new password' };

test('a recovery code signs in only when the new password is set', async ({ device, skip }) => {
  skip(!mailUrl, 'Set TEST_SUPABASE_MAIL_URL to test mailed codes.');
  const { email, user } = device.account;
  const { auth } = device.api;
  await auth.signOut();
  device.events.length = 0;
  await auth.recover({ email });
  const code = await codeSentTo(mailUrl, email);
  expect(await auth.verify({ type: 'recovery', email, code })).toEqual(user);
  expect(await auth.user()).toBeNull();
  await expect(auth.setPassword({ password: 'short' })).rejects.toMatchObject({ status: 400 });
  expect(device.events).toEqual([]);
  device.network.after = faultsOf('POST /auth/password', 'cut'); // the password is set, but the response is lost
  await auth.setPassword(newPassword);
  expect(await auth.user()).toEqual(user);
  expect(device.events).toEqual([{ type: 'signedIn', user }]);
  await auth.signIn({ email, ...newPassword });
  await expect(auth.setPassword(newPassword)).rejects.toMatchObject({ reason: 'same_password' });
});

test('setPassword changes the password even if the last sign-in was long ago', async ({ device, sql }) => {
  const { email, user } = device.account;
  const { auth } = device.api;
  await ageSignIn(sql, user.id);
  device.change({ expires_at: 0 }); // a refresh does not count as a sign-in
  await expect(auth.setPassword(newPassword)).rejects.toMatchObject({ reason: 'recent_sign_in_required' });
  const guess = { ...newPassword, currentPassword: 'a guess' };
  await expect(auth.setPassword(guess)).rejects.toMatchObject({ reason: 'invalid_credentials' });
  await auth.setPassword({ ...newPassword, currentPassword: password });
  expect(device.events.every(({ type }) => type === 'refreshed')).toBe(true);
  expect(await device.api.me()).toMatchObject({ id: user.id });
  await auth.signIn({ email, ...newPassword });
});

test('deleteAccount deletes the account and its data, even if the response is lost', async ({ device }) => {
  const { account, network, events } = device;
  const { auth } = device.api;
  device.change({ access_token: 'none of the service', refresh_token: 'nor this' });
  await expect(auth.deleteAccount()).rejects.toMatchObject({ status: 401 });
  await auth.signIn(account);
  network.before = ({ path }) => (path.endsWith('/favorites') ? 'cut' : undefined);
  await device.again(withoutRepeats).favorites.add(crypto.randomUUID());
  events.length = 0;
  await auth.deleteAccount();
  expect(events).toEqual([{ type: 'signedOut', user: account.user, reason: 'deleted' }]);
  expect(device.keys('')).toEqual(['sounds.config']);
  await expect(auth.signIn(account)).rejects.toMatchObject({ status: 401 });

  await device.signUp();
  network.after = faultsOf('DELETE /me', 'cut');
  await auth.deleteAccount();
  expect(device.keys('')).toEqual(['sounds.config']);
});

test.runIf(embedded)('deleteAccount revokes the tokens at Apple, and deletes whatever comes of it', async ({ sql }) => {
  const apple = await startSmallApple();
  const gateway = await startGateway(appleEnv(apple), apple.url);
  const { api, network, change, stored } = await startDevice(gateway.url);
  const signIn = async () => {
    const email = newEmail();
    await api.auth.signInWithIdToken({ idToken: await makeIdToken({ provider: 'apple', email }) });
    return { appleAuthorizationCode: `dev-${email}` };
  };
  const web = { appleClientId: 'com.example.web', appleRedirectUri: 'https://example.com/apple' };
  for (const more of [{}, web])
    expect(await api.auth.deleteAccount({ ...(await signIn()), ...more })).toEqual({ appleRevoked: true });
  expect(apple.requests[2]?.form).toMatchObject({ client_id: 'com.example.web', redirect_uri: web.appleRedirectUri });

  const failure = errorAnswer(500, 'server_error');
  for (const fault of [failure, 'cut', errorAnswer(400, 'invalid_request')] as const) {
    const code = await signIn();
    network.before = faultsOf('POST /me/apple/revocation', fault); // a second attempt would succeed
    expect(await api.auth.deleteAccount(code)).toEqual({ appleRevoked: false });
    expect(await api.auth.user()).toBeNull();
  }
  await signIn();
  expect(await api.auth.deleteAccount({ appleAuthorizationCode: 'of another user' })).toEqual({ appleRevoked: false });

  const code = await signIn();
  await ageSignIn(sql, stored().user.id);
  change({ expires_at: 0 });
  await expect(api.auth.deleteAccount(code)).rejects.toMatchObject({ reason: 'recent_sign_in_required' });
  expect(await api.auth.user()).not.toBeNull();
  await gateway.close();
  apple.close();
});

test.runIf(embedded)('signInWithIdToken signs in with an ID token and its nonce', async ({ start }) => {
  const { api } = await start();
  const [email, nonce] = [newEmail(), 'a random value'];
  const idToken = await makeIdToken({ provider: 'google', email, nonce });
  expect(await api.auth.signInWithIdToken({ idToken, nonce })).toMatchObject({ email });
  expect(await api.me()).toMatchObject({ email });
});

testWithConfirmations()(
  'verify signs in with a mailed code and sets the password sent with it',
  async ({ project, skip }) => {
    skip(!canConfirm(), noConfirmations);
    const { api } = await startDevice(project.gatewayUrl);
    const email = newEmail();
    const { needsEmailConfirmation } = await api.auth.signUp({ email, password });
    expect([needsEmailConfirmation, await api.auth.user()]).toEqual([true, null]);
    await api.auth.resend({ email });
    const code = await codeSentTo(project.mailUrl, email);
    const account = { email, password: 'the password of the owner' };
    await api.auth.verify({ type: 'signup', code, fullName: 'Ada', ...account });
    expect(await api.me()).toMatchObject({ email, full_name: 'Ada' });
    await api.auth.signIn(account);
  },
);
