import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { LocalFile } from '../shared/local-file.ts';
import { Rejected } from '../shared/problems.ts';

/** Edge of a thumbnail in pixels, which `GET /config` returns to apps. */
const EDGE = 256;

/** Opens a picture, turned by the orientation in its EXIF data. Tolerates damage that browsers tolerate. */
const open = (content: Uint8Array) => sharp(content, { failOn: 'none' }).rotate();

const fail = () => {
  throw new Rejected('It is damaged. Save it again as a JPEG.');
};

const contentOf = ({ extract, source }: LocalFile) => extract?.() ?? readFile(source);

/** Returns the thumbnail of a picture, stored beside it. The content is only made for the upload. */
export const thumbnailOf = (picture: LocalFile): LocalFile => ({
  ...picture,
  path: `${picture.path}.${EDGE}.webp`,
  type: 'image/webp',
  extract: async () =>
    open(await contentOf(picture))
      .resize(EDGE, EDGE, { fit: 'cover' })
      .webp()
      .toBuffer()
      .catch(fail),
});

/** Placeholders by checksum, because one cover may belong to many recordings. */
const placeholders = new Map<string, Promise<string>>();

/** Returns the ThumbHash of a picture in base64. @throws Rejected if the picture cannot be shown */
export function placeholderOf(picture: LocalFile): Promise<string> {
  const making = placeholders.get(picture.checksum) ?? contentOf(picture).then(hash);
  placeholders.set(picture.checksum, making);
  return making;
}

/** Scales a picture to 100 pixels, the maximum of ThumbHash, and returns its hash. */
async function hash(content: Uint8Array): Promise<string> {
  const image = open(content).resize(100, 100, { fit: 'inside' }).ensureAlpha().toColourspace('srgb').raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true }).catch(fail);
  return Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString('base64');
}
