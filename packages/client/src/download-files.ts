import { uuid } from './catalogue.ts';

/**
 * Stores files on the device. Their names consist of letters, digits, `.`, `-` and `_`. The README has this object for
 * browsers and for Expo.
 */
export interface Files {
  /** Writes bytes to a file, or adds them at its end. Creates the file if there is none. */
  write: (name: string, bytes: Uint8Array<ArrayBuffer>, options: { append: boolean }) => unknown;
  remove: (name: string) => unknown;
  list: () => StoredFile[] | Promise<StoredFile[]>;
  /**
   * Returns the address from which a player can play a file.
   * @param contentType type of the recording, which a Blob needs because Safari plays none without a type
   */
  urlOf: (name: string, contentType: string) => string | Promise<string>;
}

export interface StoredFile {
  name: string;
  bytes: number;
}

/** A file of a sound, or the empty file that marks a sound for download. */
export type Found = StoredFile & { id: string; version: string; totalBytes: number; isPremium: boolean };

/** File name extensions of types whose name is another, because some players decide by the extension. */
const extensions: Record<string, string> = { mp4: 'm4a', mpeg: 'mp3', 'vnd.wave': 'wav' };

const contentTypes: Record<string, string> = { m4a: 'audio/mp4', mp3: 'audio/mpeg' };

/** Replaces characters of a version that a file name must not contain. */
const safe = (version: string) => version.replace(/[^\w-]/g, '_');

interface Recording {
  version: string | null;
  bytes: number | null;
  content_type: string | null;
}

/** Returns the file name extension of a type such as `audio/x-wav` or `audio/ogg; codecs=opus`. */
function extensionOf(contentType: string): string {
  const [, name = ''] = /\/(?:x-)?([^;\s]*)/.exec(contentType.toLowerCase()) ?? [];
  return extensions[name] ?? name.replace(/[^a-z\d]/g, '');
}

/** Returns the name of a file. It contains all facts about the file, so that they need no other storage. */
export function nameOf(id: string, { version, bytes, content_type }: Recording, isPremium: boolean): string {
  const kind = isPremium ? 'premium' : 'free';
  return [id, safe(version ?? ''), bytes, kind, extensionOf(content_type ?? 'audio/mp4')].join('.');
}

/** Returns the type of a recording from the name of its file. */
export function contentTypeOf(name: string): string {
  const extension = name.split('.').at(-1) ?? '';
  return contentTypes[extension] ?? `audio/${extension}`;
}

function parse({ name, bytes }: StoredFile): Found {
  const [id = '', version = '', total, kind] = name.split('.');
  return { name, bytes, id, version, totalBytes: Number(total ?? 0), isPremium: kind === 'premium' };
}

/** Tells whether a file has this version. Undefined and null match every file. */
export const isOfVersion = (file: Found, version?: string | null) => !version || safe(version) === file.version;

export const isComplete = ({ version, bytes, totalBytes }: Found) => version !== '' && bytes === totalBytes;

/** Prefix of the empty file whose name stores the end of premium. */
export const premiumPrefix = 'premium.';

/** The files of downloads. */
export type Folder = ReturnType<typeof createFolder>;

/** Reads and writes the files of downloads. */
export function createFolder(files: Files) {
  const createEmpty = (name: string) => files.write(name, new Uint8Array(), { append: false });

  return {
    /** Lists the files of sounds. */
    list: async () => (await files.list()).map(parse).filter(({ id }) => uuid.test(id)),

    /** Marks a sound for download by an empty file with its id as the name. */
    mark: (id: string) => createEmpty(id),

    /** Creates an empty file. Its name contains the full size, which then counts towards the quota. */
    create: createEmpty,

    append: (name: string, bytes: Uint8Array<ArrayBuffer>) => files.write(name, bytes, { append: true }),

    remove: (name: string) => files.remove(name),

    /** Removes a file whose bytes are of no use. The sound stays marked for download. */
    async startAnew(id: string, name: string) {
      await createEmpty(id);
      await files.remove(name);
    },
  };
}
