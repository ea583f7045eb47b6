import type { Sounds } from '../src/index.ts';
import { createLists, type Lists, type ListToSave } from '../src/lists.ts';
import { type Device, nameOf } from './device.ts';

/** Ends calls without a network soon, but leaves time for an answer under load. */
export const shortLimit = { timeLimitMs: 5_000 };

export const newList = (fields: Partial<ListToSave> = {}): ListToSave => ({
  ...{ id: crypto.randomUUID(), name: 'Night', is_mix: false, items: [], version: 0 },
  ...fields,
});
export const item = (sound_id: string, volume: number | null = null) => ({ sound_id, volume });

/** Creates the lists of a device, as at a start of the app. */
export const startLists = ({ store, again }: Device, api: Sounds = again(shortLimit)) => createLists({ api, store });

/** Returns the lists as texts: "Night 2: title title". */
export const textsOf = async (lists: Lists) =>
  (await lists.all()).map(
    ({ name, version, items }) => `${name} ${version}: ${items.map(({ sounds }) => sounds?.title ?? '?').join(' ')}`,
  );

export const unsent = ({ keys }: Device) => keys('sounds.lists.');

export const cutLists = (device: Device) => {
  device.network.before = (request) => (nameOf(request).endsWith('/lists') ? 'cut' : undefined);
};
