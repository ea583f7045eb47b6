import type { Sound, SoundFiles } from './catalogue.ts';
import { locked, SoundsError } from './error.ts';
import type { Sounds } from './index.ts';

/** Files of a sound, and the time at which their addresses were received. */
type Known = Partial<SoundFiles> & { isPremium: boolean; cameAt: number };

/** The recording of a sound with its address. */
export type Recording = NonNullable<SoundFiles['audio']> & { version: string; bytes: number; isPremium: boolean };

const soundsAtOnce = 50;

/** Shorter than the five minutes for which an address is valid. */
const addressLimitMs = 240_000;

/** Returns the error of a sound without a recording. */
export const notFound = () => new SoundsError('There is no such recording.', { status: 404, code: 'not_found' });

/** The addresses of recordings. */
export type Addresses = ReturnType<typeof createAddresses>;

/** Keeps the addresses of recordings while they are valid. @param waiting lists the sounds that are needed next */
export function createAddresses(api: Pick<Sounds, 'sounds'>, waiting: () => string[]) {
  const known = new Map<string, Known>();

  /** Returns the files of a sound. Requests the files of the next sounds at the same time, for later calls. */
  async function filesOf(id: string, signal: AbortSignal): Promise<Known> {
    const found = known.get(id);
    if (found && performance.now() - found.cameAt < addressLimitMs) return found;
    const ids = [id, ...waiting()].slice(0, soundsAtOnce);
    const cameAt = performance.now();
    const { data } = await api.sounds.page({ ids }, { signal });
    const premium = new Set(data.filter((sound: Sound) => sound.is_premium).map((sound) => sound.id));
    known.set(id, { isPremium: false, cameAt });
    for await (const each of api.sounds.files(ids, { signal }))
      known.set(each.id, { ...each, isPremium: premium.has(each.id), cameAt });
    return known.get(id) as Known;
  }

  return {
    /** Returns the recording of a sound. @throws SoundsError if there is none */
    async recordingOf(id: string, signal: AbortSignal): Promise<Recording> {
      const { audio, is_locked, isPremium } = await filesOf(id, signal);
      if (is_locked) throw locked();
      const { version, bytes } = audio ?? {};
      if (!audio || !version || !bytes) throw notFound();
      return { ...audio, version, bytes, isPremium };
    },

    /** Forgets the address of a sound, because it may have expired or belong to an earlier version of the file. */
    forget: (id: string) => void known.delete(id),

    forgetAll: () => known.clear(),
  };
}
