import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { LocalFile } from '../shared/local-file.ts';
import { Rejected } from '../shared/problems.ts';

/** Edge of a thumbnail in pixels, which `GET /config` returns to apps. */
const EDGE = 256;

/** Makes a thumbnail of a picture. Tolerates damage that browsers tolerate. @throws Rejected */
async function shrink(content: Uint8Array): Promise<Uint8Array> {
  return await sharp(content, { failOn: 'none' })
    .rotate() // by the orientation in its EXIF data
    .resize(EDGE, EDGE, { fit: 'cover' })
    .webp()
    .toBuffer()
    .catch(() => {
      throw new Rejected('It is damaged. Save it again as a JPEG.');
    });
}

const contentOf = ({ extract, source }: LocalFile) => extract?.() ?? readFile(source);

/** Returns the thumbnail of a picture, stored beside it. The content is only made for the upload. */
export const thumbnailOf = (picture: LocalFile): LocalFile => ({
  ...picture,
  path: `${picture.path}.${EDGE}.webp`,
  type: 'image/webp',
  extract: async () => shrink(await contentOf(picture)),
});

/** Results of earlier checks by checksum, because one cover may belong to many recordings. */
const checked = new Map<string, Promise<unknown>>();

/** @throws Rejected if no thumbnail can be made from the picture */
export async function requireReadable(picture: LocalFile): Promise<void> {
  const checking = checked.get(picture.checksum) ?? thumbnailOf(picture).extract?.();
  if (checking) checked.set(picture.checksum, checking);
  await checking;
}
