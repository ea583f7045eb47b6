import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import slugify from '@sindresorhus/slugify';
import mime from 'mime';
import { oneLine } from './text.ts';

const longestPart = 60;
const checksumDigits = 12;

/** Extensions of files by their stored extension. The view admin.catalogue_problems accepts only the stored ones. */
const storedAs = {
  '.mp3': /^\.(mp1|mp2a?|mpga|m[23]a)$/,
  '.m4a': /^\.(m4[br]|mp4a)$/,
  '.aac': /^\.adts$/,
  '.webm': /^\.weba$/,
  '.wav': /^\.wave$/,
  '.jpg': /^\.(jpe|jfif|pjpeg|pjp)$/,
  '.png': /^\.apng$/,
};

/** Returns the extension under which a file is stored, in lower case. */
export function storedExtension(file: string): string {
  const extension = posix.extname(file).toLowerCase();
  return Object.entries(storedAs).find(([, others]) => others.test(extension))?.[0] ?? extension;
}

/** Extensions of video that may contain only audio. The content is checked later. */
const audioAsWell: Record<string, string> = { '.mp4': 'audio/mp4', '.webm': 'audio/webm' };

/** Returns the MIME type of the extension of a file. */
export function typeOf(file: string): string {
  const extension = storedExtension(file);
  return audioAsWell[extension] ?? mime.getType(extension) ?? 'application/octet-stream';
}

/**
 * Returns the name of a file in its bucket: `bowls/f3-bowl-1-4be2a1c9d07f.wav` for `Bowls/F3 bowl #1.WAV`. It contains
 * a part of the checksum, so that the content of a name never changes.
 * @param file its name in the folder
 * @param checksum SHA-256 in hex
 */
export function storagePath(file: string, checksum: string, extension = storedExtension(file)): string {
  const { dir, name } = posix.parse(file);
  const parts = [...dir.split('/').filter(Boolean), name].map((part) => {
    const slug = slugify(part, { decamelize: false }).slice(0, longestPart).replace(/-$/, '');
    return slug || 'sound';
  });
  return `${parts.join('/')}-${checksum.slice(0, checksumDigits)}${extension}`;
}

/** Returns the part of the checksum in a name that `storagePath` made. */
export function checksumIn(path: string | null | undefined): string | undefined {
  return /-([0-9a-f]{12})\.\w+$/.exec(path ?? '')?.[1];
}

/** Returns the id of a new sound or category. It depends only on the arguments, so that a retry reuses the row. */
export function soundId(...parts: (string | undefined)[]): string {
  const digest = createHash('sha256').update(`sounds-service import ${JSON.stringify(parts)}`);
  const [, a, b, c, bits = '', d, e] = /^(.{8})(.{4}).(.{3})(.)(.{3})(.{12})/.exec(digest.digest('hex')) ?? [];
  // RFC 9562: version 8 and the variant 10 leave all other bits to the application.
  return `${a}-${b}-8${c}-${'89ab'[Number.parseInt(bits, 16) % 4]}${d}-${e}`;
}

/** Makes a title from a file name, such as `Deep bowl` from `01 - deep_bowl.mp3`. */
export function readableTitle(file: string): string {
  const words = oneLine(posix.parse(file).name)
    .replace(/^(0\d*[\s._-]+|\d{1,3}\s*[.-]\s+)(?=.)/, '')
    .replace(/[\s_]+|(?<=\S)-+(?=\S)/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
