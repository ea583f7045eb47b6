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

export function find<T extends HTMLElement>(selector: string): T {
  const found = document.querySelector<T>(selector);
  if (!found) throw new Error(`The page has no ${selector}.`);
  return found;
}

/** Says something at the top of the screen; screen readers read it out. */
export function notify(text: string) {
  find('#notice').textContent = text;
}

/** Does something, during which a control cannot be used, and says so where it fails. */
export async function attempt(act: () => unknown, control?: HTMLButtonElement) {
  if (control) control.disabled = true;
  try {
    await act();
  } catch (error) {
    if ((error as Error).name !== 'AbortError') notify(textOf(error));
  }
  if (control) control.disabled = false;
}

export function button(label: string, act: () => unknown, properties: Partial<HTMLButtonElement> = {}) {
  const element = el('button', { type: 'button', ...properties }, label);
  element.onclick = () => void attempt(act, element);
  return element;
}

export type Field = Partial<HTMLInputElement> & { name: string; label: string };

/** @param submit gets what was typed in, by the names of the fields */
export function form(fields: Field[], label: string, submit: (typed: Record<string, string>) => unknown) {
  const send = el('button', { className: 'primary' }, label);
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

const texts: { [reason in string]?: string } = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  code_invalid: 'The code is wrong, used, or too old.',
  address_taken: 'This address cannot be used. Do you have an account already?',
  weak_password: 'This password is too easy to guess.',
  same_password: 'That is your password already.',
  wrong_current_password: 'The current password is wrong.',
};

/** An error in words for users: the service's own are for developers. */
function textOf(error: unknown): string {
  if (!(error instanceof SoundsError)) throw error;
  if (error.retryAfter) return `That was too often. Try again in ${error.retryAfter} seconds.`;
  if (error.code === 'no_answer') return 'No network. Try again when you are online.';
  if (error.reason === 'validation') return `Check what you typed in: ${error.field}.`;
  return texts[error.reason ?? ''] ?? `That did not work. (Request ${error.requestId})`;
}
