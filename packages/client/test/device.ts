import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { type Decide, type Fault, type ProxiedRequest, startNetwork } from '../../../test/support/network.ts';
import { test as base, newEmail, password } from '../../../test/support/test.ts';
import { createSounds, type Options, type SessionEvent, type Store, type Wait } from '../src/index.ts';

/** Decides before each access to a store: throws, returns a promise to wait for, or a text that `getItem` returns. */
type Access = (method: keyof Store, key: string) => unknown;

/** Makes an asynchronous store as on phones, whose accesses can fail. @param delayMs duration of each access */
export function phoneStore(delayMs = 0) {
  const items = new Map<string, string>();
  const works: Access = () => undefined;
  async function access<T>(method: keyof Store, key: string, act: () => T): Promise<T> {
    const replaced = await store.before(method, key);
    await sleep(delayMs);
    return replaced === undefined ? act() : (replaced as T);
  }
  const store = {
    items,
    before: works,
    repair: () => void Object.assign(store, { before: works }),
    getItem: (key: string) => access('getItem', key, () => items.get(key) ?? null),
    setItem: (key: string, value: string) => access('setItem', key, () => void items.set(key, value)),
    removeItem: (key: string) => access('removeItem', key, () => void items.delete(key)),
  };
  return store;
}

/** Makes a successful response of the service. */
export const successAnswer = (body: object, status = 200, headers: Record<string, string> = {}): Fault => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
});

/** Makes an error response of the service. */
export const errorAnswer = (status: number, code: string, headers: Record<string, string> = {}) =>
  successAnswer({ error: { code, message: 'Made up.' } }, status, headers);

/** Returns method and path of a request, as the guide writes them: `GET /sounds`. */
export const nameOf = ({ method, path }: Pick<ProxiedRequest, 'method' | 'path'>) =>
  `${method} ${path.replace('/api/v1', '').split('?')[0]}`;

/** Applies these faults to the first requests with a name, one after the other. All others pass. */
export function faultsOf(name: string, ...faults: Fault[]): Decide {
  return (request) => (nameOf(request) === name ? faults.shift() : undefined);
}

/**
 * Answers requests like a service that allows `limit` of them in windows of one to two seconds.
 * @param name beginning of the names of these requests
 * @param least number of requests that the client must leave in each window
 * @param answer makes the body of each response from the number of requests so far
 */
export function windowsOf(name: string, limit: number, least: number, answer: (count: number) => object): Decide {
  let [count, resetsAt, remaining] = [0, 0, 0];
  return (request) => {
    if (!nameOf(request).startsWith(name)) return;
    const now = Math.ceil(Date.now() / 1000);
    if (now > resetsAt) [resetsAt, remaining] = [now + 1, limit];
    remaining -= 1;
    expect(remaining).toBeGreaterThanOrEqual(least);
    const headers = { Limit: limit, Remaining: remaining, Reset: resetsAt };
    const named = Object.entries(headers).map(([header, value]) => [`X-RateLimit-${header}`, String(value)]);
    named.push(['X-Service-Time', String(Date.now())]);
    count += 1;
    return successAnswer(answer(count), 200, Object.fromEntries(named));
  };
}

export const pass: Decide = () => undefined;

/** Replaces these clocks until the test ends. */
export function fakeTimers(...toFake: ('setTimeout' | 'Date')[]) {
  vi.useFakeTimers({ toFake });
  onTestFinished(() => void vi.useRealTimers());
}

/** Ends each pause before a repeat at once. Pass it as `onWait`, with a fake `setTimeout`. */
export const skipPause = ({ until }: Wait) =>
  void setImmediate(() => vi.advanceTimersByTime(until.getTime() - Date.now() + 1_000));

/** Prevents repeats by a limit below the pause before the first repeat. */
export const withoutRepeats = { timeLimitMs: 900 };

type Setting = Pick<Options, 'onWait' | 'timeLimitMs' | 'offlineStore'> & { store?: ReturnType<typeof phoneStore> };

/** Creates a client on a simulated device, with a network to the gateway that can fail. */
export async function startDevice(gatewayUrl: string, { store = phoneStore(), ...options }: Setting = {}) {
  const events: SessionEvent[] = [];
  const sent: string[] = [];
  const network = { before: pass, after: pass };
  const { url } = await startNetwork(
    new URL(gatewayUrl).origin,
    (request) => {
      sent.push(nameOf(request));
      return network.before(request);
    },
    (request) => network.after(request),
  );
  const again = (limit: Setting = options) =>
    createSounds({ url: `${url}/api/v1`, store, onSession: (event) => void events.push(event), ...limit });
  const api = again();
  const stored = () => JSON.parse(store.items.get('sounds.session') ?? 'null');
  return {
    api,
    /** Creates another client on the same store, as after a restart or in another tab. */
    again,
    store,
    events,
    /** Names of all requests that the device has sent. */
    sent,
    /** Selects the fault of each request and response. */
    network,
    /** Returns the keys of the store that begin with a text. */
    keys: (start: string) => [...store.items.keys()].filter((key) => key.startsWith(start)),
    stored,
    change: (changes: object) => void store.items.set('sounds.session', JSON.stringify({ ...stored(), ...changes })),
    async signUp() {
      const account = { email: newEmail(), password };
      await api.config(); // otherwise the first list would request it
      const { user } = await api.auth.signUp(account);
      sent.length = 0;
      events.length = 0;
      return { ...account, user };
    },
  };
}

export type Device = Awaited<ReturnType<typeof startDevice>>;
interface Fixtures {
  start: (setting?: Setting) => Promise<Device>;
  device: Device & { account: Awaited<ReturnType<Device['signUp']>> };
}

/** Test function with a device whose user has just signed up, and with a function that starts another device. */
export const test = base.extend<Fixtures>({
  start: async ({ gateway }, use) => use((setting) => startDevice(gateway.url, setting)),
  device: async ({ start }, use) => {
    const device = await start();
    await use({ ...device, account: await device.signUp() });
  },
});
