import { el } from './dom.ts';
import { on, sounds } from './sounds.ts';

/** What fails is made up for the next time. */
const sync = async () => {
  if ((await sounds.auth.user()) !== null) await sounds.offline.sync().catch(() => {});
};
addEventListener('online', sync);
on('session', ({ type }) => void (type === 'signedIn' && sync()));
void sync();

const ages = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** In its largest unit. */
function ageOf(time: Date): string {
  const minutes = Math.round((time.getTime() - Date.now()) / 60_000);
  if (minutes > -60) return ages.format(minutes, 'minute');
  if (minutes > -60 * 24) return ages.format(Math.round(minutes / 60), 'hour');
  return ages.format(Math.round(minutes / 60 / 24), 'day');
}

/** Without a network, the line that says how old the copy of the catalogue is, which is shown then; null with one, or without a copy. */
export async function copyInUse(): Promise<HTMLElement | null> {
  const time = navigator.onLine ? null : await sounds.offline.syncedAt();
  return time && el('p', { role: 'note' }, `The catalogue as it was ${ageOf(time)}.`);
}
