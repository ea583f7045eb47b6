import { api } from './sounds.ts';

let syncedAt: Date | null = null;

/** What fails is made up for the next time. */
const sync = async () => {
  if ((await api.auth.user()) !== null) await api.offline.sync().catch(() => {});
  syncedAt = await api.offline.syncedAt();
};
addEventListener('online', sync);
addEventListener('session', ({ detail: { type } }) => void (type === 'signedIn' && sync()));
void sync();

/** When the copy of the catalogue is of, which is shown without a network; null with one, or without a copy. */
export const copyInUse = () => (navigator.onLine ? null : syncedAt);
