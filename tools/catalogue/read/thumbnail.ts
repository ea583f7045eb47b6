import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { LocalFile } from '../shared/local-file.ts';
import { Rejected } from '../shared/problems.ts';

/** Of a thumbnail, in pixels: what lists show. `GET /config` tells apps. */
const edge = 256;

/**
 * The small form of a picture, which lies beside it in Storage under a name that apps make from its own. It is made when it is sent.
 * @returns a file whose content throws Rejected where the picture cannot be read
 */
export function thumbnailOf(picture: LocalFile): LocalFile {
  const extract = async () => {
    const content = await (picture.extract?.() ?? readFile(picture.source));
    return sharp(content)
      .rotate() // as its EXIF says
      .resize(edge, edge, { fit: 'cover' })
      .webp()
      .toBuffer()
      .catch((error: Error) => {
        throw new Rejected(`Its picture cannot be made smaller: ${error.message}. Save it anew as a JPEG.`);
      });
  };
  return { ...picture, path: `${picture.path}.${edge}.webp`, type: 'image/webp', extract };
}
