import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { onTestFinished, vi } from 'vitest';
import { type Decide, type Fault, type ProxiedRequest, startNetwork } from '../../../test/support/network.ts';
import { test as base, newEmail, password } from '../../../test/support/test.ts';
import { createSounds, type Options, type SessionEvent, type Store } from '../src/index.ts';
import { bundleClient } from './bundle.ts';
import { openPage, openProfile } from './page.ts';

/** A store as phones have them: asynchronous, and slow on request. Its items can be looked at. */
export function phoneStore(delayMs = 0): Store & { items: Map<string, string> } {
  const items = new Map<string, string>();
  const late = <T>(act: () => T) => sleep(delayMs).then(act);
  return {
    items,
    getItem: (key) => late(() => items.get(key) ?? null),
    setItem: (key, value) => late(() => void items.set(key, value)),
    removeItem: (key) => late(() => void items.delete(key)),
  };
}

/** A successful answer of the service, made up. */
export const successAnswer = (body: object, status = 200, headers: Record<string, string> = {}): Fault => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
});

/** An error of the service, made up. */
export const errorAnswer = (status: number, code: string, headers: Record<string, string> = {}) =>
  successAnswer({ error: { code, message: 'Made up.' } }, status, headers);

/** How a request is written in the guide: `GET /sounds`. */
export const nameOf = ({ method, path }: Pick<ProxiedRequest, 'method' | 'path'>) =>
  `${method} ${path.replace('/api/v1', '').split('?')[0]}`;

const realNow = Date.now;

const emptyPage = '<!doctype html><title>An app</title><link rel="icon" href="data:,">';
const bundles = new Map<string, Promise<string>>();

/** Answers what a page asks for besides the service: itself, and the client. */
async function pageRequest(module: string, path: string): Promise<Fault> {
  if (path === '/') return { status: 200, headers: { 'Content-Type': 'text/html' }, body: emptyPage };
  if (path !== '/client.js') return undefined;
  const bundle = bundles.get(module) ?? bundleClient(module);
  bundles.set(module, bundle);
  return { status: 200, headers: { 'Content-Type': 'text/javascript' }, body: await bundle };
}

/** Less than the pause before the first repeat: what fails at once fails for good. Not for calls that are to succeed. */
export const withoutRepeats = { timeLimitMs: 900 };

type Setting = Partial<Omit<Options, 'url'>> & {
  store?: ReturnType<typeof phoneStore>;
  /** A browser to run the client in, and the module that its pages are given. */
  at?: { browser: Browser; module: string };
};

/**
 * A device with the client on it, and a network to the gateway that can be broken.
 * @returns also `sent`, the names of all requests that left the device, and `network`, which decides about each
 */
export async function startDevice(
  gatewayUrl: string,
  { at, store = phoneStore(), ...options }: Setting = {},
) {
  const events: SessionEvent[] = [];
  const onSession = (event: SessionEvent) => void events.push(event);
  const sent: string[] = [];
  const network = { before: (() => undefined) as Decide, after: (() => undefined) as Decide };
  const { url } = await startNetwork(
    new URL(gatewayUrl).origin,
    async (request) => {
      const answer = at && (await pageRequest(at.module, request.path));
      if (answer) return answer;
      sent.push(nameOf(request));
      return network.before(request);
    },
    (request) => network.after(request),
  );
  const profile = at && (await openProfile(at.browser, { store, onSession }));
  const make = async (limit: { timeLimitMs?: number } = options) =>
    profile
      ? openPage(profile, url, limit.timeLimitMs)
      : createSounds({ url: `${url}/api/v1`, store, onSession, ...limit });
  const api = await make();
  let aheadMs = 0;
  const now = () => realNow() + aheadMs;
  return {
    api,
    /** The same app once more on the same store: after a restart, or in another tab. */
    again: make,
    store,
    events,
    sent,
    network,
    now,
    /** Puts the clock of the device forward. In Node that is Date.now alone: the gateway, in the same process, uses Date. */
    async setClock(ms: number) {
      aheadMs = ms;
      await profile?.clock.setSystemTime(now());
      if (profile) return;
      const spy = vi.spyOn(Date, 'now').mockImplementation(now);
      onTestFinished(() => void spy.mockRestore());
    },
    /** What the store holds of the session. */
    stored: () => JSON.parse(store.items.get('sounds.session') ?? 'null'),
    /** Changes what the store holds of the session. */
    change: (changes: object) => {
      const session = JSON.parse(store.items.get('sounds.session') ?? '{}');
      store.items.set('sounds.session', JSON.stringify({ ...session, ...changes }));
    },
    async signUp() {
      const account = { email: newEmail(), password };
      await api.config(); // which the first list would ask for
      const { user } = await api.auth.signUp(account);
      sent.length = 0;
      events.length = 0;
      return { ...account, user };
    },
  };
}

export type Device = Awaited<ReturnType<typeof startDevice>>;
export type Account = Awaited<ReturnType<Device['signUp']>>;

/** The test function of vitest with a device whose user has just signed up, and with a way to start another one. */
export const testOn = (start: typeof startDevice) =>
  base.extend<{ start: (setting?: Setting) => Promise<Device>; device: Device & { account: Account } }>({
    start: async ({ gateway }, use) => use((setting) => start(gateway.url, setting)),
    device: async ({ start }, use) => {
      const device = await start();
      await use({ ...device, account: await device.signUp() });
    },
  });

export const test = testOn(startDevice);
export type DeviceTest = typeof test;

/** Breaks the first requests of a name with these faults, one after the other; all others pass. */
export function faultsOf(name: string, ...faults: Fault[]): Decide {
  return (request) => (nameOf(request) === name ? faults.shift() : undefined);
}
