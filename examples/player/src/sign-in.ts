import { SoundsError } from 'sounds-client';
import { api } from './api.ts';
import { ready } from './copy.ts';
import { button, el, entitle, type Field, find, form, link, notify } from './dom.ts';
import { play } from './player.ts';

const email: Field = { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' };
const code: Field = { name: 'code', label: 'Code', inputMode: 'numeric', autocomplete: 'one-time-code' };
const secret = { name: 'password', type: 'password' };
export const password: Field = { ...secret, label: 'Password', autocomplete: 'current-password' };
export const newPassword: Field = { ...secret, label: 'New password', autocomplete: 'new-password', minLength: 6 };

/** Shows the next step of a screen. */
function showStep(title: string, ...content: Node[]) {
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
  showStep('Enter the code', sentTo(account.email), form([code], 'Confirm', verify), again, forgotten);
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
      showStep('New password', form([newPassword], 'Set the password', set));
    };
    showStep('Enter the code', sentTo(email), form([code], 'Continue', verify), button('Send again', send));
  };
  return [form([email], 'Send a code', ask)];
}
