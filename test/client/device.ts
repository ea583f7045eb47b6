import { setTimeout as sleep } from 'node:timers/promises';
import { createSounds, type Options, type SessionEvent, type Store } from '../../client/src/index.ts';
import { type Decide, type Fault, type ProxiedRequest, startNetwork } from '../support/network.ts';
import { newEmail, password } from '../support/test.ts';

/** A store as phones have them: asynchronous, and slow on request. Its items can be looked at. */
export function phoneStore(delayMs = 0): Store & { items: Map<string, string> } {
  const items = new Map<string, string>();
  return {
    items,
    async getItem(key) {
      await sleep(delayMs);
      return items.get(key) ?? null;
    },
    async setItem(key, value) {
      await sleep(delayMs);
      items.set(key, value);
    },
    async removeItem(key) {
      await sleep(delayMs);
      items.delete(key);
    },
  };
}

/** An answer of the service, made up. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Fault => ({
  status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify({ error: { code, message: 'Made up.' } }),
});

/** How a request is written in the guide: `GET /sounds`. */
export const nameOf = ({ method, path }: Pick<ProxiedRequest, 'method' | 'path'>) =>
  `${method} ${path.replace('/api/v1', '').split('?')[0]}`;

type Setting = Partial<Omit<Options, 'url'>> & { store?: ReturnType<typeof phoneStore> };

/**
 * A device with the client on it, and a network to the gateway that can be broken.
 * @returns also `sent`, the names of all requests that left the device, and `broken`, which decides about each
 */
export async function startDevice(gatewayUrl: string, { store = phoneStore(), ...options }: Setting = {}) {
  const events: SessionEvent[] = [];
  const sent: string[] = [];
  const network = { before: (() => undefined) as Decide, after: (() => undefined) as Decide };
  const { url } = await startNetwork(
    new URL(gatewayUrl).origin,
    (request) => {
      sent.push(nameOf(request));
      return network.before(request);
    },
    (request) => network.after(request),
  );
  const make = () =>
    createSounds({ url: `${url}/api/v1`, store, onSession: (event) => events.push(event), ...options });
  const sounds = make();
  return {
    sounds,
    /** The same app once more on the same store: after a restart, or in another tab. */
    again: make,
    store,
    events,
    sent,
    network,
    /** What the store holds of the session. */
    stored: () => JSON.parse(store.items.get('sounds.session') ?? 'null'),
    /** Changes what the store holds of the session. */
    change: (changes: object) => {
      const session = JSON.parse(store.items.get('sounds.session') ?? '{}');
      store.items.set('sounds.session', JSON.stringify({ ...session, ...changes }));
    },
    async signUp() {
      const account = { email: newEmail(), password };
      await sounds.config(); // which the first list would ask for
      const { user } = await sounds.auth.signUp(account);
      sent.length = 0;
      events.length = 0;
      return { ...account, user };
    },
  };
}

/** Breaks the first requests of a name with these faults, one after the other; all others pass. */
export function faultsOf(name: string, ...faults: Fault[]): Decide {
  return (request) => (nameOf(request) === name ? faults.shift() : undefined);
}
