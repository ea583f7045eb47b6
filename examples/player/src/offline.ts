import { sounds } from './sounds.ts';

let syncedAt: Date | null = null;

/** What fails is made up for the next time. */
const sync = async () => {
  if ((await sounds.auth.user()) !== null) await sounds.offline.sync().catch(() => {});
  syncedAt = await sounds.offline.syncedAt();
};
addEventListener('online', sync);
addEventListener('session', ({ detail: { type } }) => void (type === 'signedIn' && sync()));
void sync();

/** When the copy of the catalogue is of, which is shown without a network; null with one, or without a copy. */
export const copyInUse = () => (navigator.onLine ? null : syncedAt);
