import { copyInUse } from './copy.ts';
import { textOf } from './texts.ts';

/** Makes an element with properties, including ARIA properties, and children. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export const link = (href: string, text: string) => el('p', {}, el('a', { href }, text));

/** SVG paths in a view box of 24 by 24 units. */
const shapes = {
  play: 'M8 5v14l11-7z',
  pause: 'M7 5h4v14H7zM13 5h4v14h-4z',
  next: 'M6 6l9 6-9 6zM16 6h2v12h-2z',
  previous: 'M18 6l-9 6 9 6zM6 6h2v12H6z',
  repeat: 'M7 7h9V4l5 4.5-5 4.5v-3H9v3H7zM17 17H8v3l-5-4.5L8 11v3h7v-3h2z',
  retry: 'M12 5V1l6 5-6 5V7a5 5 0 1 0 5 5h2a7 7 0 1 1-7-7z',
  heart: 'M12 20.5C5.5 15 3 12 3 8.5a4.6 4.6 0 0 1 9-1.3 4.6 4.6 0 0 1 9 1.3c0 3.5-2.5 6.5-9 12z',
  even: 'M3 6h2.5v12H3zM8.2 6h2.5v12H8.2zM13.3 6h2.5v12h-2.5zM18.5 6H21v12h-2.5z',
  about: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 5h2v2h-2zm0 4h2v6h-2z',
  lock: 'M7 10V7a5 5 0 0 1 10 0v3h2v11H5V10zm2 0h6V7a3 3 0 0 0-6 0z',
  close: 'M6 4.6 4.6 6l6 6-6 6L6 19.4l6-6 6 6 1.4-1.4-6-6 6-6L18 4.6l-6 6z',
};

export const icon = (name: keyof typeof shapes) =>
  el('i', { innerHTML: `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${shapes[name]}"/></svg>` });

export const find = (selector: string) => document.querySelector(selector) as HTMLElement;

/** Sets the title of the page and its heading. */
export function entitle(title: string) {
  document.title = `${title} – Sounds`;
  find('main h1').textContent = title;
}

let timer = 0;

/** Shows a text at the top, for some seconds or until the next text. Without a text, reports a missing network. */
export function notify(text = '', seconds = 0) {
  clearTimeout(timer);
  if (seconds > 0) timer = window.setTimeout(notify, seconds * 1000);
  const copy = copyInUse();
  const age = copy ? `the catalogue as of ${copy.toLocaleString()}, ` : '';
  const offline = navigator.onLine ? '' : `No network: ${age}your changes are sent later.`;
  find('#notice').textContent = text || offline;
}

/** Runs an action and shows its failure. Until it ends, the control is inactive but keeps the focus. */
async function attempt(act: () => unknown, control: HTMLButtonElement) {
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

export function button(label: string | Node, act: () => unknown, rest: Partial<HTMLButtonElement> = {}) {
  const element = el('button', { type: 'button', ...rest }, label);
  element.onclick = () => void attempt(act, element);
  return element;
}

export type Field = Partial<HTMLInputElement> & { name: string; label: string };

type Typed = Record<string, string>;

export function form(fields: Field[], label: string, submit: (typed: Typed) => unknown, kind = 'primary') {
  const send = el('button', { className: kind }, label);
  const input = ({ label, ...rest }: Field) => el('label', {}, label, el('input', { required: true, ...rest }));
  const element = el('form', {}, ...fields.map(input), send);
  element.onsubmit = (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(element)) as Typed;
    notify();
    void attempt(() => submit(typed), send);
  };
  return element;
}

/** Loads content into an element. Shows the progress, or the reason of a failure with a button to try again. */
export async function fill(place: HTMLElement, load: () => (Node | string)[] | Promise<(Node | string)[]>) {
  const state = el('p', { role: 'status' });
  const again = button('Try again', run);
  const offerAgain = () => place.append(again);
  async function run() {
    if (again.isConnected) notify(); // removes the message of the wait
    state.textContent = 'Loading …';
    place.ariaBusy = 'true';
    addEventListener('wait', offerAgain);
    try {
      const content = await load();
      if (!state.isConnected) return; // the user has left the screen, or another attempt was faster
      if (document.activeElement === again) find('main').focus({ preventScroll: true });
      place.replaceChildren(...content);
    } catch (error) {
      if (!state.isConnected) return;
      state.textContent = textOf(error);
      offerAgain();
    } finally {
      place.ariaBusy = null;
      removeEventListener('wait', offerAgain);
    }
  }
  place.replaceChildren(state);
  await run();
}
