import { SoundsError } from 'sounds-client';

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

/** An element that index.html has. */
export const find = (selector: string) => document.querySelector(selector) as HTMLElement;

/** Says something at the top of the screen, where it stays in view; screen readers read it out. */
export function notify(text: string) {
  find('#notice').textContent = text;
}

/** Does something, during which a control does nothing but keeps the focus, and says so where it fails. */
export async function attempt(act: () => unknown, control?: HTMLButtonElement) {
  if (control?.ariaDisabled === 'true') return;
  if (control) control.ariaDisabled = 'true';
  try {
    await act();
  } catch (error) {
    if ((error as Error).name !== 'AbortError') notify(textOf(error));
  } finally {
    if (control) control.ariaDisabled = null;
  }
}

export function button(label: string, act: () => unknown, properties: Partial<HTMLButtonElement> = {}) {
  const element = el('button', { type: 'button', ...properties }, label);
  element.onclick = () => void attempt(act, element);
  return element;
}

export type Field = Partial<HTMLInputElement> & { name: string; label: string };

/** @param submit gets what was typed in, by the names of the fields */
export function form(
  fields: Field[],
  label: string,
  submit: (typed: Record<string, string>) => unknown,
  className = 'primary',
) {
  const send = el('button', { className }, label);
  const inputs = fields.map(({ label, ...input }) =>
    el('label', {}, label, el('input', { required: true, ...input })),
  );
  const element = el('form', {}, ...inputs, send);
  element.onsubmit = (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(element)) as Record<string, string>;
    notify('');
    void attempt(() => submit(typed), send);
  };
  return element;
}

/** What a place shows until its content is there, or instead of it, with a way to try again. */
export async function fill(place: HTMLElement, load: () => Promise<void>) {
  place.replaceChildren(el('p', { role: 'status' }, 'Loading …'));
  try {
    await load();
  } catch (error) {
    if ((error as Error).name === 'AbortError') return;
    const again = button('Try again', () => fill(place, load));
    place.replaceChildren(el('p', { role: 'alert' }, textOf(error)), again);
  }
}

const texts: { [reason in string]?: string } = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  code_invalid: 'The code is wrong, used, or too old.',
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
  if (!(error instanceof SoundsError)) throw error;
  if (error.retryAfter) return `That was too often. Try again in ${error.retryAfter} seconds.`;
  if (error.reason === 'validation') return `Check what you typed in: ${error.field}.`;
  return texts[error.reason ?? error.code] ?? `That did not work. (Request ${error.requestId})`;
}
