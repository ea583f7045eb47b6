/** Stores files on the device. The README has this object for browsers and for Expo. */
export interface Files {
  /** Writes bytes to a file, or adds them at its end. Creates the file if there is none. */
  write: (name: string, bytes: Uint8Array<ArrayBuffer>, options: { append: boolean }) => unknown;
  remove: (name: string) => unknown;
  list: () => StoredFile[] | Promise<StoredFile[]>;
  /** Returns the address from which a player can play a file. */
  urlOf: (name: string) => string | Promise<string>;
}

export type StoredFile = { name: string; bytes: number };

/** A file of a sound, or the empty file that marks a sound for download. */
export type Found = StoredFile & { id: string; version: string; totalBytes: number; isPremium: boolean };

const extensions: Record<string, string> = { mp4: 'm4a', mpeg: 'mp3' };

/** Replaces characters of a version that a file name must not contain. */
const safe = (version: string) => version.replace(/[^\w-]/g, '_');

type Recording = { version: string | null; bytes: number | null; content_type: string | null };

/** Returns the name of a file. It contains all facts about the file, so that they need no other storage. */
export function nameOf(id: string, { version, bytes, content_type }: Recording, isPremium: boolean): string {
  // Some players need an extension.
  const type = (content_type ?? 'audio/mp4').replace(/^.*\/(x-)?/, '');
  return [id, safe(version ?? ''), bytes, isPremium ? 'premium' : 'free', extensions[type] ?? type].join('.');
}

function parse({ name, bytes }: StoredFile): Found {
  const [id = '', version = '', total, kind] = name.split('.');
  return { name, bytes, id, version, totalBytes: Number(total ?? 0), isPremium: kind === 'premium' };
}

/** Returns true if a file has this version. Undefined and null match every file. */
export const isOfVersion = (file: Found, version?: string | null) => !version || safe(version) === file.version;

export const isComplete = ({ version, bytes, totalBytes }: Found) => version !== '' && bytes === totalBytes;

/** Prefix of the empty file whose name stores the end of premium: `premium.<Unix milliseconds>`. */
const premium = 'premium';

const empty = () => new Uint8Array();

/** Reads and writes the files of downloads. */
export function createFolder(files: Files) {
  const all = async () => (await files.list()).map(parse);

  return {
    /** Lists the files of sounds. */
    list: async () => (await all()).filter(({ id }) => id !== premium),

    /** Marks a sound for download by an empty file with its id as the name. */
    mark: (id: string) => files.write(id, empty(), { append: false }),

    /** Creates an empty file. Its name contains the full size, which then counts towards the quota. */
    create: (name: string) => files.write(name, empty(), { append: false }),

    /** Returns the time at which premium ends; infinity if it is unknown. */
    async premiumUntil(): Promise<number> {
      const ends = (await all()).filter(({ id }) => id === premium).map(({ version }) => Number(version));
      return ends.length > 0 ? Math.max(...ends) : Number.POSITIVE_INFINITY;
    },

    /** Stores the end of premium. @param end null if there is none any more */
    async setPremiumUntil(end: string | null) {
      const known = (await all()).filter(({ id }) => id === premium);
      const past = Math.min(Date.now(), ...known.map(({ version }) => Number(version)));
      const name = `${premium}.${end === null ? past : Date.parse(end)}`;
      if (known.some((file) => file.name === name)) return;
      await files.write(name, empty(), { append: false });
      for (const file of known) await files.remove(file.name);
    },
  };
}
