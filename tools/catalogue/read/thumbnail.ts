import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { LocalFile } from '../shared/local-file.ts';
import { Rejected } from '../shared/problems.ts';

/** Edge of a thumbnail in pixels. `GET /config` tells it to apps. */
const EDGE = 256;

/** Makes a thumbnail of a picture. Damage that browsers tolerate is tolerated. @throws Rejected */
async function shrink(content: Uint8Array): Promise<Uint8Array> {
  return await sharp(content, { failOn: 'none' })
    .rotate() // as its EXIF data says
    .resize(EDGE, EDGE, { fit: 'cover' })
    .webp()
    .toBuffer()
    .catch(() => {
      throw new Rejected('It is damaged. Save it again as a JPEG.');
    });
}

const contentOf = ({ extract, source }: LocalFile) => extract?.() ?? readFile(source);

/** Returns the thumbnail of a picture as a file beside it in Storage. Its content is made when it is uploaded. */
export const thumbnailOf = (picture: LocalFile): LocalFile => ({
  ...picture,
  path: `${picture.path}.${EDGE}.webp`,
  type: 'image/webp',
  extract: async () => shrink(await contentOf(picture)),
});

/** Pictures that have been checked, by checksum, because a folder may have one cover for many recordings. */
const checked = new Map<string, Promise<unknown>>();

/** @throws Rejected if no thumbnail can be made of a picture */
export async function requireReadable(picture: LocalFile): Promise<void> {
  const checking = checked.get(picture.checksum) ?? thumbnailOf(picture).extract?.();
  if (checking) checked.set(picture.checksum, checking);
  await checking;
}
