import { el } from './dom.ts';
import { on, sounds } from './sounds.ts';

/** What fails is made up for the next time. */
const sync = async () => {
  if ((await sounds.auth.user()) !== null) await sounds.offline.sync().catch(() => {});
};
addEventListener('online', sync);
on('session', ({ type }) => void (type === 'signedIn' && sync()));
void sync();

/** Without a network, the line that says how old the copy of the catalogue is, which is shown then; null with one, or without a copy. */
export async function copyInUse(): Promise<HTMLElement | null> {
  const time = navigator.onLine ? null : await sounds.offline.syncedAt();
  return time && el('p', { role: 'note' }, `No network: the catalogue as of ${time.toLocaleString()}.`);
}
