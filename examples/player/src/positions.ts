import type { ProgressEntry } from 'sounds-client';
import { api } from './api.ts';

// Positions at which the user stopped. Each change dispatches the event `positions`.

/** Seconds at which the user stopped, by the id of the sound. */
export const positions = new Map<string, number>();

/** Settles when the last position is stored. */
let saving = Promise.resolve();

/** Reads the positions from the device. */
export async function readPositions() {
  let heard: ProgressEntry[];
  let saved: typeof saving;
  do {
    saved = saving;
    await saved.catch(() => {});
    heard = await api.progress.list();
  } while (saved !== saving); // otherwise an older position would replace the one that was saved meanwhile
  positions.clear();
  for (const { sound_id, position_sec, sounds } of heard)
    if (canResume(position_sec, sounds?.duration_sec)) positions.set(sound_id, position_sec);
  dispatchEvent(new Event('positions'));
}

/** Tells whether to resume at a position. Ignores the first and last 15 s, where other apps may save positions. */
export const canResume = (seconds: number, length?: number | null) =>
  seconds >= 15 && !(length && seconds > length - 15);

/** Time limit for the positions of other devices, because the user waits for the sound. */
const catchUpLimitMs = 1_500;

let caughtUpAt = 0;

/**
 * Gets the positions of other devices before a sound plays, unless that takes long.
 * @param knownForMs time for which positions are not requested again
 */
export async function catchUp(knownForMs = 0) {
  if (!navigator.onLine || Date.now() - caughtUpAt < knownForMs) return;
  try {
    await api.progress.sync({ signal: AbortSignal.timeout(catchUpLimitMs) });
    caughtUpAt = Date.now();
    await readPositions();
  } catch {
    // The sound starts at the newest position that this device has.
  }
}

/** Sends positions at once, because the user may go on with another device. */
export const sendPositions = () => saving.then(() => api.progress.flush()).catch(() => {});

/** Saves where the user is in a sound. Null removes the position. */
export async function savePosition(id: string, seconds: number | null) {
  if (seconds === null) positions.delete(id);
  else positions.set(id, seconds);
  dispatchEvent(new Event('positions'));
  saving = api.progress.save(id, seconds);
  await saving;
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) void api.progress.flush({ keepalive: true }).catch(() => {});
});
addEventListener('session', ({ detail: { type } }) => {
  if (type === 'signedOut') positions.clear();
});
