import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileTypeFromBuffer, fileTypeFromFile, supportedMimeTypes } from 'file-type';
import mime from 'mime';
import { type IAudioMetadata, parseFile, selectCover } from 'music-metadata';
import { type BucketLimits, checksumOf, type LocalFile, limitProblem } from '../shared/local-file.ts';
import { storagePath, storedExtension } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import type { Recording } from './recording.ts';
import { placeholderOf } from './thumbnail.ts';
import type { Found } from './walk.ts';

/**
 * Finds the picture of a recording: the embedded one, else the file of the same name, else the cover of the folder.
 * @returns undefined if there is none
 * @throws Rejected if it cannot be shown or the bucket does not accept it, and errors of the file system
 */
export async function pictureOf(
  file: string,
  { metadata, audio }: Recording,
  pictures: Found['pictures'],
  limits: BucketLimits,
): Promise<LocalFile | undefined> {
  const embedded = metadata && selectCover(metadata.common.picture);
  if (embedded) return await embeddedPicture(file, embedded, audio, limits);
  const chosen = nameOfPicture(file, pictures);
  return chosen === undefined ? undefined : await pictureFile(chosen, pictures, limits);
}

/** Finds the picture file that belongs to a recording without an embedded one. */
export function nameOfPicture(file: string, pictures: Found['pictures']): string | undefined {
  const { dir, name } = posix.parse(file);
  const found = [...pictures.keys()].filter((picture) => posix.dirname(picture) === (dir || '.'));
  const stem = (picture: string) => posix.parse(picture).name;
  return (
    found.find((picture) => stem(picture) === name) ?? found.find((picture) => stem(picture).toLowerCase() === 'cover')
  );
}

/**
 * Reads a picture file of the folder.
 * @throws Rejected if it is missing, has another type than its name, is damaged, or the bucket does not accept it
 */
export async function pictureFile(file: string, pictures: Found['pictures'], limits: BucketLimits): Promise<LocalFile> {
  const found = pictures.get(file);
  if (!found) throw new Rejected(`The folder has no image "${file}". Correct the name or add the file.`);
  const { source, type, exported } = found;
  const { size, mtimeMs: changedMs } = await stat(source);
  requireLimits(file, type, size, limits);
  const checksum = await checksumOf(source);
  const picture = { bucket: 'covers', type, size, checksum, source, changedMs } as const;
  const isExported = exported?.checksum === checksum;
  if (!isExported) await requireType(file, source, type);
  // The name contains the folder and the checksum, so that equal pictures of a folder are stored once.
  const path = isExported ? exported.path : storagePath(coverIn(file), checksum, storedExtension(file));
  const named = { ...picture, path };
  return await withPlaceholder(named).catch((error: unknown) => {
    if (isExported) return named;
    throw error;
  });
}

type Embedded = NonNullable<IAudioMetadata['common']['picture']>[number];

async function embeddedPicture(
  file: string,
  { data }: Embedded,
  { source, changedMs }: LocalFile,
  limits: BucketLimits,
): Promise<LocalFile> {
  // Detect the type, because the one in the tags is often wrong.
  const { mime: type } = (await fileTypeFromBuffer(data)) ?? {};
  if (!type?.startsWith('image/'))
    throw new Rejected('The picture in the recording is not an image. Replace it with a JPEG, or remove it.');
  const extension = `.${mime.getExtension(type)}`;
  requireLimits(`picture${extension}`, type, data.length, limits);
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = storagePath(coverIn(file), checksum, extension);
  // Read the picture again for the upload, because those of all recordings may not fit into memory.
  const extract = async () => {
    const { common } = await parseFile(source);
    return selectCover(common.picture)?.data ?? new Uint8Array();
  };
  const picture = { bucket: 'covers', path, type, size: data.length, checksum, source, changedMs } as const;
  return { ...(await withPlaceholder({ ...picture, extract: () => Promise.resolve(data) })), extract };
}

/** @throws Rejected if the picture cannot be shown */
const withPlaceholder = async (picture: LocalFile): Promise<LocalFile> => ({
  ...picture,
  facts: { cover_placeholder: await placeholderOf(picture) },
});

/** @throws Rejected if the content of a picture is of another type than its extension */
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

function requireLimits(file: string, type: string, size: number, limits: BucketLimits): void {
  const problem = limitProblem(file, type, size, limits);
  if (problem) throw new Rejected(`${problem} Convert it to a smaller JPEG, for example.`);
}
