import { SoundsError } from 'sounds-client';
import { button, el, type Field, find, form, notify } from './dom.ts';
import { play } from './player.ts';
import { sounds } from './sounds.ts';

const demo = { email: 'demo@example.com', password: 'demo-password' };

const email: Field = { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' };
const code: Field = { name: 'code', label: 'Code', inputMode: 'numeric', autocomplete: 'one-time-code' };
const password: Field = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
};
const newPassword: Field = { ...password, label: 'New password', autocomplete: 'new-password', minLength: 6 };

const heading = (text: string) => el('h1', {}, text);
const link = (href: string, text: string) => el('p', {}, el('a', { href }, text));

/** Goes on to the next step of a screen. */
const next = (...content: Node[]) => find('main > div').replaceChildren(...content);

export async function signIn() {
  const { sign_up } = await sounds.config();
  const listen = async () => {
    await sounds.auth.signIn(demo);
    const { data } = await sounds.sounds.page({ limit: 20 });
    if (data[0]) await play(data[0], data);
  };
  const fields = [
    { ...email, value: demo.email },
    { ...password, value: demo.password },
  ];
  const enter = form(fields, 'Sign in', async ({ email = '', password = '' }) => {
    try {
      await sounds.auth.signIn({ email, password });
    } catch (error) {
      if (!(error instanceof SoundsError) || error.reason !== 'email_not_confirmed') throw error;
      await sounds.auth.resend({ email });
      confirm({ email, password });
    }
  });
  return [
    heading('Bowls, rain, breath, music'),
    button('Listen with the demo account', listen, { className: 'primary' }),
    el('h2', {}, 'Sign in'),
    enter,
    link('#/forgot', 'Forgot your password?'),
    ...(sign_up ? [link('#/signup', 'Create an account')] : []),
  ];
}

export function signUp() {
  const name: Field = { name: 'fullName', label: 'Name', autocomplete: 'name' };
  const create = async ({ fullName = '', email = '', password = '' }) => {
    const account = { fullName, email, password };
    const { needsEmailConfirmation } = await sounds.auth.signUp(account);
    if (needsEmailConfirmation) confirm(account);
  };
  return [heading('Create an account'), form([name, email, newPassword], 'Create the account', create)];
}

/** Asks for the code of a sign-up; what was chosen stays in memory until then, and is sent with it. */
function confirm(account: { email: string; password: string; fullName?: string }) {
  const verify = ({ code = '' }) => sounds.auth.verify({ type: 'signup', code, ...account });
  const again = button('Send again', () => sounds.auth.resend(account));
  next(heading('Enter the code'), sentTo(account.email), form([code], 'Confirm', verify), again);
}

/** No answer tells whether there is such an account, so this does not claim to know. */
const sentTo = (email: string) => el('p', {}, `If there is an account for ${email}, a code is on its way.`);

export function forgot() {
  const ask = async ({ email = '' }) => {
    const send = () => sounds.auth.recover({ email });
    await send();
    const verify = async ({ code = '' }) => {
      await sounds.auth.verify({ type: 'recovery', email, code });
      const set = ({ password = '' }) => sounds.auth.setPassword({ password });
      next(heading('New password'), form([newPassword], 'Set the password', set));
    };
    const again = button('Send again', send);
    next(heading('Enter the code'), sentTo(email), form([code], 'Continue', verify), again);
  };
  return [heading('Forgot your password?'), form([email], 'Send a code', ask)];
}

export async function account() {
  const { email, full_name } = await sounds.me();
  const current: Field = { ...password, name: 'currentPassword', label: 'Current password' };
  const change = async ({ currentPassword = '', password = '' }) => {
    await sounds.auth.setPassword({ password, currentPassword });
    notify('The password is changed. Other devices are signed out.');
  };
  const remove = async ({ password = '' }) => {
    await sounds.auth.signIn({ email: email ?? '', password }); // the deletion needs a recent sign-in
    await sounds.auth.deleteAccount();
  };
  const download = async () => {
    const file = new Blob([JSON.stringify(await sounds.export(), null, 2)], { type: 'application/json' });
    el('a', { href: URL.createObjectURL(file), download: 'sounds-account.json' }).click();
  };
  return [
    heading(full_name ?? 'Account'),
    el('p', {}, email ?? ''),
    button('Sign out', () => sounds.auth.signOut()),
    el('h2', {}, 'Your data'),
    button('Download everything that is kept of you', download),
    el('h2', {}, 'Change the password'),
    form([current, newPassword], 'Change the password', change),
    el('h2', {}, 'Delete the account'),
    el('p', {}, 'The account, your name, your favorites and your history are deleted for good.'),
    form([password], 'Delete the account', remove, 'destructive'),
  ];
}
