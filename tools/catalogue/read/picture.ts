import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileTypeFromBuffer, fileTypeFromFile, supportedMimeTypes } from 'file-type';
import mime from 'mime';
import { type IPicture, selectCover } from 'music-metadata';
import sharp from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { Facts } from '../shared/fields.ts';
import { type BucketLimits, checksumOf, type LocalFile, requireLimits } from '../shared/local-file.ts';
import { storagePath, storedExtension } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import { parseRecording } from './appended-tag.ts';
import type { Recording } from './recording.ts';
import type { Found } from './walk.ts';

/**
 * Finds the picture of a sound: the one that its row names, else the one embedded in its recording, else the file of
 * the same name, else the cover of the folder.
 * @param named undefined if there is no row, null for no picture
 * @throws Rejected if it cannot be shown or the bucket does not accept it, and errors of the file system
 */
export async function pictureOf(
  named: string | null | undefined,
  file: string,
  recording: Recording | undefined,
  pictures: Found['pictures'],
  limits: BucketLimits,
): Promise<LocalFile | undefined> {
  const embedded = named === undefined && selectCover(recording?.metadata?.common.picture);
  if (recording && embedded) return await embeddedPicture(file, embedded, recording.audio, limits);
  const chosen = named === undefined && recording ? nameOfPicture(file, pictures) : named;
  return chosen ? await pictureFile(chosen, pictures, limits) : undefined;
}

/** Finds the picture file that belongs to a recording without an embedded one. */
export function nameOfPicture(file: string, pictures: Found['pictures']): string | undefined {
  const { dir, name } = posix.parse(file);
  const beside = [...pictures.keys()].map((picture) => posix.parse(picture)).filter((picture) => picture.dir === dir);
  const found = beside.find((each) => each.name === name) ?? beside.find((each) => each.name.toLowerCase() === 'cover');
  return found && posix.join(dir, found.base);
}

/**
 * Reads a picture file of the folder.
 * @throws Rejected if it is missing, has another type than its name, is damaged, or the bucket does not accept it
 */
async function pictureFile(file: string, pictures: Found['pictures'], limits: BucketLimits): Promise<LocalFile> {
  const found = pictures.get(file);
  if (!found) throw new Rejected(`The folder has no image "${file}". Correct the name or add the file.`);
  const { source, type, exported } = found;
  const { size, mtimeMs: changedMs } = await stat(source);
  requireLimits(file, { bucket: 'covers', type, size }, limits);
  const checksum = await checksumOf(source);
  const isExported = exported?.checksum === checksum;
  if (!isExported) await requireType(file, source, type);
  // The name contains the folder and the checksum, so that equal pictures of a folder are stored once.
  const path = isExported ? exported.path : storagePath(coverIn(file), checksum, storedExtension(file));
  const picture: LocalFile = { bucket: 'covers', path, type, size, checksum, source, changedMs };
  const facts = await placeholderOf(picture).catch((error: unknown) => {
    if (!isExported) throw error;
    return undefined;
  });
  return { ...picture, facts };
}

async function embeddedPicture(
  file: string,
  { data }: IPicture,
  { source, changedMs }: LocalFile,
  limits: BucketLimits,
): Promise<LocalFile> {
  // Detect the type, because the one in the tags is often wrong.
  const { mime: type } = (await fileTypeFromBuffer(data)) ?? {};
  if (!type?.startsWith('image/'))
    throw new Rejected('The picture in the recording is not an image. Replace it with a JPEG, or remove it.');
  const extension = `.${mime.getExtension(type)}`;
  const [bucket, size] = ['covers' as const, data.length];
  requireLimits(`picture${extension}`, { bucket, type, size }, limits);
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = storagePath(coverIn(file), checksum, extension);
  const picture = { bucket, path, type, size, checksum, source, changedMs };
  const facts = await placeholderOf({ ...picture, extract: () => Promise.resolve(data) });
  // Read the picture again for the upload, because the pictures of all recordings may not fit into memory.
  const extract = async () => selectCover((await parseRecording(source)).common.picture)?.data ?? new Uint8Array();
  return { ...picture, facts, extract };
}

/** Checks the type of a picture. @throws Rejected if its content and its extension differ */
async function requireType(file: string, source: string, type: string): Promise<void> {
  // Accept types without a signature, such as SVG.
  if (!supportedMimeTypes.has(type)) return;
  const found = await fileTypeFromFile(source);
  // Accept an animated PNG as a PNG.
  if (found?.mime.replace('apng', 'png') === type) return;
  const problem = found ? `actually a .${found.ext} file. Rename it, or export` : 'not an image. Export';
  throw new Rejected(`"${file}" is ${problem} it again.`);
}

const coverIn = (file: string) => posix.join(posix.dirname(file), 'cover');

/** Edge of a thumbnail in pixels, which `GET /config` returns to apps. */
const thumbnailEdge = 256;

/** Opens a picture, turned by the orientation in its EXIF data. Tolerates damage that browsers tolerate. */
const open = (content: Uint8Array) => sharp(content, { failOn: 'none' }).rotate();

const fail = () => {
  throw new Rejected('It is damaged. Save it again as a JPEG.');
};

const contentOf = ({ extract, source }: LocalFile) => extract?.() ?? readFile(source);

/** Returns the thumbnail of a picture, stored beside it. The content is only made for the upload. */
export const thumbnailOf = (picture: LocalFile): LocalFile => ({
  ...picture,
  path: `${picture.path}.${thumbnailEdge}.webp`,
  type: 'image/webp',
  extract: async () =>
    open(await contentOf(picture))
      .resize(thumbnailEdge, thumbnailEdge, { fit: 'cover' })
      .webp()
      .toBuffer()
      .catch(fail),
});

/** Placeholders by checksum, because one cover may belong to many recordings. */
const placeholders = new Map<string, Promise<Facts>>();

/** Returns the ThumbHash of a picture. @throws Rejected if the picture cannot be shown */
export function placeholderOf(picture: LocalFile): Promise<Facts> {
  const making = placeholders.get(picture.checksum) ?? contentOf(picture).then(hash);
  placeholders.set(picture.checksum, making);
  return making;
}

/** Scales a picture to 100 pixels, the maximum of ThumbHash, and returns its hash. */
async function hash(content: Uint8Array): Promise<Facts> {
  const image = open(content).resize(100, 100, { fit: 'inside' }).ensureAlpha().toColourspace('srgb').raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true }).catch(fail);
  return { cover_placeholder: Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString('base64') };
}
