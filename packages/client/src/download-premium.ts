import { type Files, premiumPrefix } from './download-files.ts';
import type { Sounds } from './index.ts';
import { exclusively } from './lock.ts';

const dayMs = 86_400_000;

/** Time for which files play after the known end of premium, because it may have been renewed without a network. */
const renewalMs = 3 * dayMs;

/** Time for which files of premium sounds stay on the device after premium has ended. */
const keptMs = 30 * dayMs;

/** Time limit of the request before a locked sound is rejected. */
const questionLimitMs = 5_000;

/** The end of premium on the device. */
export type Premium = ReturnType<typeof createPremium>;

/**
 * Keeps the last answer about premium in the name of an empty file: `premium.<Unix milliseconds of the end>`,
 * followed by `.over` if premium had already ended.
 */
export function createPremium({ api, files }: { api: Pick<Sounds, 'customer'>; files: Files }) {
  async function marks() {
    const names = (await files.list()).map(({ name }) => name).filter((name) => name.startsWith(premiumPrefix));
    return names.map((name) => {
      const [, end, over] = name.split('.');
      return { name, endMs: Number(end), isOver: over === 'over' };
    });
  }

  /** Returns the known end. If the app was closed while it changed, there are two, of which the later one counts. */
  async function known() {
    const byEnd = (await marks()).sort((a, b) => b.endMs - a.endMs || Number(b.isOver) - Number(a.isOver));
    return byEnd[0] ?? { endMs: Number.POSITIVE_INFINITY, isOver: false };
  }

  /** Asks the service when premium ends, and stores the answer. */
  async function ask(signal?: AbortSignal) {
    const { premium_until } = await api.customer.get({ signal });
    await exclusively('sounds.downloads.premium', async () => {
      const before = await marks();
      const past = Math.min(Date.now(), ...before.map(({ endMs }) => endMs));
      const endMs = premium_until === null ? past : Date.parse(premium_until);
      const name = `${premiumPrefix}${endMs}${endMs <= Date.now() ? '.over' : ''}`;
      if (before.every((mark) => mark.name !== name)) await files.write(name, new Uint8Array(), { append: false });
      for (const mark of before) if (mark.name !== name) await files.remove(mark.name);
    });
  }

  async function isLocked() {
    const { endMs, isOver } = await known();
    return Date.now() >= endMs + (isOver ? 0 : renewalMs);
  }

  return {
    ask,

    /** Tells whether premium files may no longer play. Before it returns true, asks the service for a renewal. */
    async isOver(): Promise<boolean> {
      if (!(await isLocked())) {
        // Ask without delaying the sound. The answer counts for the next one.
        if (Date.now() >= (await known()).endMs) ask().catch(() => {});
        return false;
      }
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), questionLimitMs);
      await ask(controller.signal).catch(() => {});
      clearTimeout(timer);
      return isLocked();
    },

    /** Tells whether premium ended so long ago that its files are removed. */
    isLongOver: async (): Promise<boolean> => Date.now() >= (await known()).endMs + keptMs,
  };
}
