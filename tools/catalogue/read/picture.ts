import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileTypeFromBuffer, fileTypeFromFile, supportedMimeTypes } from 'file-type';
import mime from 'mime';
import { type IAudioMetadata, parseFile, selectCover } from 'music-metadata';
import { type BucketLimits, checksumOf, type LocalFile, limitProblem } from '../shared/local-file.ts';
import { storagePath } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import type { Recording } from './recording.ts';
import type { Found } from './walk.ts';

/**
 * The picture of a recording: the one in it, else one of the same name beside it, else the cover of its folder.
 * @returns undefined when it has none
 * @throws Rejected when it is not an image, or the bucket does not take it, and errors of the file system
 */
export async function pictureOf(
  file: string,
  { metadata, audio }: Recording,
  pictures: Found['pictures'],
  limits: BucketLimits,
): Promise<LocalFile | undefined> {
  const embedded = metadata && selectCover(metadata.common.picture);
  if (embedded) return await embeddedPicture(file, embedded, audio, limits);
  const { dir, name } = posix.parse(file);
  const found = [...pictures.keys()].filter((picture) => posix.dirname(picture) === (dir || '.'));
  const stem = (picture: string) => posix.parse(picture).name;
  const chosen =
    found.find((picture) => stem(picture) === name) ??
    found.find((picture) => stem(picture).toLowerCase() === 'cover');
  return chosen === undefined ? undefined : await pictureFile(chosen, pictures, limits);
}

/**
 * A picture that is a file of the folder.
 * @throws Rejected when it is not there, is not what its name says, or the bucket does not take it
 */
export async function pictureFile(
  file: string,
  pictures: Found['pictures'],
  limits: BucketLimits,
): Promise<LocalFile> {
  const found = pictures.get(file);
  if (!found) throw new Rejected(`The folder has no image "${file}". Correct the name or add the file.`);
  const { source, type, exported } = found;
  const { size, mtimeMs: changedMs } = await stat(source);
  requireLimits(file, type, size, limits);
  const checksum = await checksumOf(source);
  const picture = { bucket: 'covers', type, size, checksum, source, changedMs } as const;
  if (exported?.checksum === checksum) return { ...picture, path: exported.path };
  await requireType(file, source, type);
  // Named after the folder, not the picture: those that are equal become one.
  return { ...picture, path: storagePath(coverIn(file), checksum, posix.extname(file)) };
}

type Embedded = NonNullable<IAudioMetadata['common']['picture']>[number];

async function embeddedPicture(
  file: string,
  { data }: Embedded,
  { source, changedMs }: LocalFile,
  limits: BucketLimits,
): Promise<LocalFile> {
  // Taggers often write a wrong type beside it.
  const { mime: type } = (await fileTypeFromBuffer(data)) ?? {};
  if (!type?.startsWith('image/'))
    throw new Rejected('The one in the recording is not an image. Replace it with a JPEG, or remove it.');
  const extension = `.${mime.getExtension(type)}`;
  requireLimits(`picture${extension}`, type, data.length, limits);
  const checksum = createHash('sha256').update(data).digest('hex');
  const path = storagePath(coverIn(file), checksum, extension);
  // Not kept until it is sent: those of two hundred recordings may be a gigabyte.
  const extract = async () => {
    const { common } = await parseFile(source);
    return selectCover(common.picture)?.data ?? new Uint8Array();
  };
  return { bucket: 'covers', path, type, size: data.length, checksum, source, changedMs, extract };
}

/** @throws Rejected when the content of a picture is not of the type that its extension stands for */
async function requireType(file: string, source: string, type: string): Promise<void> {
  // Some, such as SVG, have no signature.
  if (!supportedMimeTypes.has(type)) return;
  const found = await fileTypeFromFile(source);
  // An animated PNG is a PNG, too.
  if (found?.mime.replace('apng', 'png') === type) return;
  throw new Rejected(
    found
      ? `"${file}" is actually a .${found.ext} file. Rename it, or export it again.`
      : `"${file}" is not an image. Export it again.`,
  );
}

const coverIn = (file: string) => posix.join(posix.dirname(file), 'cover');

function requireLimits(file: string, type: string, size: number, limits: BucketLimits): void {
  const problem = limitProblem(file, type, size, limits);
  if (problem) throw new Rejected(`${problem} Convert it to a smaller JPEG, for example.`);
}
