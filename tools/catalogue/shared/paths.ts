import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import slugify from '@sindresorhus/slugify';

const LONGEST_PART = 60;
const CHECKSUM_DIGITS = 12;

/**
 * The name that a file gets in its bucket: of `Bowls/F3 bowl #1.WAV`, `bowls/f3-bowl-1-4be2a1c9d07f.wav`. With a part of its
 * checksum in it, a name stands for one content for ever: what is there needs no second upload, a changed file takes
 * no old one's place under somebody who is listening, phones show no old picture, and no two files get in each other's way.
 * @param file its name in the folder
 * @param checksum SHA-256 in hex
 */
export function storagePath(file: string, checksum: string, extension = posix.extname(file)): string {
  const { dir, name } = posix.parse(file);
  const parts = [...dir.split('/').filter(Boolean), name].map((part) => {
    const slug = slugify(part, { decamelize: false }).slice(0, LONGEST_PART).replace(/-$/, '');
    return slug || 'sound';
  });
  return `${parts.join('/')}-${checksum.slice(0, CHECKSUM_DIGITS)}${extension.toLowerCase()}`;
}

/** The first digits of the checksum of what is stored under a name that `storagePath` made. */
export function checksumIn(path: string | null | undefined): string | undefined {
  return /-([0-9a-f]{12})\.\w+$/.exec(path ?? '')?.[1];
}

/** The id that a new sound gets: always the same one, so that a row is not made twice, whatever is interrupted. */
export function soundId(...whatItIs: (string | undefined)[]): string {
  const digest = createHash('sha256')
    .update(`sounds-service import ${JSON.stringify(whatItIs)}`)
    .digest();
  // RFC 9562: version 8 leaves all other bits to us.
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A title made of a file's name: of `01 - deep_bowl.mp3`, `Deep bowl`. */
export function readableTitle(file: string): string {
  const words = posix
    .parse(file)
    .name.replace(/^(0\d*[\s._-]+|\d{1,3}\s*[.-]\s+)(?=.)/, '')
    .replace(/[\s_]+|(?<=\S)-+(?=\S)/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
