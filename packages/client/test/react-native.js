// Reduces the globals of a page to those of React Native, and installs React Native's fetch and AbortController.
import { AbortController, AbortSignal } from 'abort-controller/dist/abort-controller.mjs';
import { fetch, Headers, Request, Response } from 'whatwg-fetch';

const lacking = ['crypto', 'structuredClone', 'DOMException', 'localStorage', 'addEventListener', 'EventTarget'];
const own = { AbortController, AbortSignal, fetch, Headers, Request, Response };
const globals = { ...own, navigator: { product: 'ReactNative' } };
for (const name of lacking) globals[name] = undefined;
for (const [name, value] of Object.entries(globals))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

// React Native has URL, but its properties cannot be changed.
for (const name of Object.keys(URL.prototype)) {
  const { get } = Object.getOwnPropertyDescriptor(URL.prototype, name) ?? {};
  if (get) Object.defineProperty(URL.prototype, name, { get, set: undefined });
}

export * from '../src/index.ts';
