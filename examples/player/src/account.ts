import { SoundsError } from 'sounds-client';
import { api, premiumUntil, ready } from './api.ts';
import { devices } from './devices.ts';
import { button, el, entitle, type Field, find, form, notify } from './dom.ts';
import { play } from './player.ts';

const email: Field = { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' };
const code: Field = { name: 'code', label: 'Code', inputMode: 'numeric', autocomplete: 'one-time-code' };
const secret = { name: 'password', type: 'password' };
const password: Field = { ...secret, label: 'Password', autocomplete: 'current-password' };
const newPassword: Field = { ...secret, label: 'New password', autocomplete: 'new-password', minLength: 6 };

const link = (href: string, text: string) => el('p', {}, el('a', { href }, text));

/** Shows the next step of a screen. */
function next(title: string, ...content: Node[]) {
  entitle(title);
  find('main > div').replaceChildren(...content);
  find('main input').focus();
}

export async function signIn() {
  const { sign_up, guests } = await api.config();
  const demo = { email: 'demo@example.com', password: 'demo-password' };
  const listen = async (begin: () => Promise<unknown>) => {
    notify();
    await begin();
    const [{ data }] = await Promise.all([api.sounds.page({ limit: 20 }), ready]);
    if (data[0]) await play(data[0], data);
  };
  let typed = { email: '', password: '' };
  const enter = form([email, password], 'Sign in', async ({ email = '', password = '' }) => {
    typed = { email, password };
    try {
      await api.auth.signIn(typed);
    } catch (error) {
      // The service does not say whether the password is wrong or the address is not confirmed.
      mail.hidden = !(error instanceof SoundsError) || error.code !== 'unauthorized';
      throw error;
    }
  });
  const mailCode = async () => {
    notify();
    await api.auth.resend(typed);
    confirm(typed);
  };
  const mail = button('Mail me a code', mailCode, { hidden: true });
  return [
    el('p', {}, 'Bowls, rain, breath, music.'),
    button('Listen with the demo account', () => listen(() => api.auth.signIn(demo)), { className: 'primary' }),
    ...(guests ? [button('Listen without an account', () => listen(() => api.auth.continueAsGuest()))] : []),
    enter,
    mail,
    link('#/forgot', 'Forgot your password?'),
    ...(sign_up ? [link('#/signup', 'Create an account')] : []),
  ];
}

export function signUp() {
  const create = async ({ email = '', password = '' }) => {
    const account = { email, password };
    const { needsEmailConfirmation } = await api.auth.signUp(account);
    if (needsEmailConfirmation) confirm(account);
  };
  return [form([email, newPassword], 'Create the account', create)];
}

/** Asks for the code of a sign-up. Keeps the password in memory, because it is sent with the code. */
function confirm(account: { email: string; password: string }) {
  const verify = ({ code = '' }) => api.auth.verify({ type: 'signup', code, ...account });
  const again = button('Send again', () => api.auth.resend(account));
  const forgotten = link('#/forgot', 'No mail? Forgot your password?'); // the address may be confirmed already
  next('Enter the code', sentTo(account.email), form([code], 'Confirm', verify), again, forgotten);
}

/** Does not say whether there is an account, because the service does not reveal it. */
const sentTo = (email: string) => el('p', {}, `If there is an account for ${email}, a code is on its way.`);

export function forgot() {
  const ask = async ({ email = '' }) => {
    const send = () => api.auth.recover({ email });
    await send();
    const verify = async ({ code = '' }) => {
      await api.auth.verify({ type: 'recovery', email, code });
      const set = ({ password = '' }) => api.auth.setPassword({ password });
      next('New password', form([newPassword], 'Set the password', set));
    };
    next('Enter the code', sentTo(email), form([code], 'Continue', verify), button('Send again', send));
  };
  return [form([email], 'Send a code', ask)];
}

/** Leads a guest to an account, which then gets what the guest did. */
async function guestAccount() {
  const { sign_up } = await api.config();
  return [
    el('p', {}, 'You listen without an account. With one, you keep your favorites and your history on every device.'),
    ...(sign_up ? [link('#/signup', 'Create an account')] : []),
    link('#/signin', 'Sign in'),
  ];
}

export async function account() {
  if ((await api.auth.user())?.isGuest) return guestAccount();
  const { email, full_name } = await api.me();
  const current: Field = { ...password, name: 'currentPassword', label: 'Current password' };
  const change = async ({ currentPassword = '', password = '' }) => {
    await api.auth.setPassword({ password, currentPassword });
    notify('The password is changed. Other devices are signed out.');
  };
  const download = async () => {
    const file = new Blob([JSON.stringify(await api.export(), null, 2)], { type: 'application/json' });
    el('a', { href: URL.createObjectURL(file), download: 'sounds-account.json' }).click();
    notify('The file is among your downloads.');
  };
  return [
    el('p', {}, [full_name, email].filter(Boolean).join(', ')),
    button('Sign out', () => api.auth.signOut()),
    el('h2', {}, 'Devices'),
    ...(await devices()),
    el('h2', {}, 'Your data'),
    button('Download everything that is stored about you', download),
    el('h2', {}, 'Change the password'),
    form([current, newPassword], 'Change the password', change),
    el('h2', {}, 'Leave'),
    button('Delete the account …', () => location.assign('#/account/delete'), { className: 'destructive' }),
  ];
}

/** Asks for the deletion on a separate screen, so that Enter in another form cannot start it. */
export async function deletion() {
  const { email } = await api.me();
  const remove = async ({ password = '' }) => {
    await api.auth.signIn({ email: email ?? '', password }); // a deletion requires a recent sign-in
    await api.auth.deleteAccount();
  };
  return [
    el('p', {}, `The account ${email}, your name, your favorites, lists and history are deleted for good.`),
    form([password], 'Delete for good', remove, 'destructive'),
    link('#/account', 'Keep the account'),
  ];
}

/** Explains premium. An app would sell it here. */
export async function premium() {
  const until = await premiumUntil();
  const end = until?.startsWith('9999') ? '' : ` until ${new Date(until ?? 0).toLocaleDateString()}`;
  return [
    el('p', {}, 'Sounds with a lock are for listeners with premium. All others are free.'),
    el('p', {}, until ? `You have premium${end}.` : 'You do not have premium. Ask the team of this service for it.'),
    link('#/browse', 'Browse all sounds'),
  ];
}
