import { api } from './api.ts';
import { devices } from './devices.ts';
import { button, el, type Field, form, link, notify } from './dom.ts';
import { premiumUntil } from './premium.ts';
import { newPassword, password } from './sign-in.ts';

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
