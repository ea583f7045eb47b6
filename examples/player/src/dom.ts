import { SoundsError } from 'sounds-client';
import { copyInUse } from './offline.ts';

/** Makes an element with its properties, ARIA's among them, and what is in it. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export const find = (selector: string) => document.querySelector(selector) as HTMLElement;

/** Gives the screen its title. */
export function entitle(title: string) {
  document.title = `${title} – Sounds`;
  find('main h1').textContent = title;
}

let timer = 0;

/** Says something at the top of the screen for some seconds, or until there is something else: that there is no network. */
export function notify(text = '', seconds = 0) {
  clearTimeout(timer);
  if (seconds > 0) timer = window.setTimeout(notify, seconds * 1000);
  const copy = copyInUse();
  const age = copy ? `the catalogue as of ${copy.toLocaleString()}, ` : '';
  find('#notice').textContent =
    text || (navigator.onLine ? '' : `No network: ${age}favorites are sent later.`);
}

/** Does something, during which a control does nothing but keeps the focus, and says so where it fails. */
export async function attempt(act: () => unknown, control: HTMLButtonElement) {
  if (control.ariaDisabled === 'true') return;
  control.ariaDisabled = 'true';
  try {
    await act();
  } catch (error) {
    notify(textOf(error));
  } finally {
    control.ariaDisabled = null;
  }
}

export function button(label: string, act: () => unknown, properties: Partial<HTMLButtonElement> = {}) {
  const element = el('button', { type: 'button', ...properties }, label);
  element.onclick = () => void attempt(act, element);
  return element;
}

export type Field = Partial<HTMLInputElement> & { name: string; label: string };

type Typed = Record<string, string>;

export function form(fields: Field[], label: string, submit: (typed: Typed) => unknown, kind = 'primary') {
  const send = el('button', { className: kind }, label);
  const input = ({ label, ...rest }: Field) =>
    el('label', {}, label, el('input', { required: true, ...rest }));
  const element = el('form', {}, ...fields.map(input), send);
  element.onsubmit = (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(element)) as Typed;
    notify();
    void attempt(() => submit(typed), send);
  };
  return element;
}

/** Loads what a place shows. Until that is there, or instead of it, it says so, with a way to try again. */
export async function fill(place: HTMLElement, load: () => (Node | string)[] | Promise<(Node | string)[]>) {
  const state = el('p', { role: 'status' });
  const again = button('Try again', run);
  const offerAgain = () => place.append(again);
  async function run() {
    if (again.isConnected) notify(); // what was waited for is asked now
    state.textContent = 'Loading …';
    addEventListener('wait', offerAgain);
    try {
      const content = await load();
      if (!state.isConnected) return; // the user has gone on, or another try was faster
      if (document.activeElement === again) find('main').focus({ preventScroll: true });
      place.replaceChildren(...content);
    } catch (error) {
      if (!state.isConnected) return;
      state.textContent = textOf(error);
      offerAgain();
    } finally {
      removeEventListener('wait', offerAgain);
    }
  }
  place.replaceChildren(state);
  await run();
}

export const texts: { [reason in string]?: string } = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  code_invalid: 'The code is wrong, used, or too old.',
  address_confirmed: 'The address is confirmed. Choose a password with “Forgot your password?”.',
  address_taken: 'This address cannot be used. Do you have an account already?',
  weak_password: 'This password is too easy to guess.',
  same_password: 'That is your password already.',
  wrong_current_password: 'The current password is wrong.',
  session_ended: 'You are signed out. Sign in again.',
  not_found: 'It is no longer there.',
  no_answer: 'No network, or the service does not answer. Try again when you are online.',
};

/** An error in words for users: the service's own are for developers. */
export function textOf(error: unknown): string {
  if (!(error instanceof SoundsError)) {
    reportError(error);
    return 'That did not work. Reload the page.';
  }
  if (error.retryAfter) return `That was too often. Try again in ${Math.ceil(error.retryAfter / 60)} min.`;
  if (error.reason === 'validation') return `Check what you typed in: ${error.field}.`;
  return texts[error.reason ?? error.code] ?? `That did not work. (Request ${error.requestId})`;
}
