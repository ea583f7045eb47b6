import sharp from 'sharp';
import { between, randomFor } from '../random.ts';
import { MOTIFS, type MotifName } from './motifs.ts';
import { type Intention, PALETTES } from './palette.ts';

const SIZE_PX = 800;

/** What a cover shows, and in whose colours. */
export interface CoverRecipe {
  intention: Intention;
  motif: MotifName;
  /** How large the thing is drawn, where its size says something: 1 is usual. */
  size?: number;
}

/** A cover as an SVG document; the same name always gives the same picture. */
function coverSvg(name: string, { intention, motif, size = 1 }: CoverRecipe): string {
  const random = randomFor(name);
  const { sky, light, line } = PALETTES[intention];
  const [lightX, lightY] = [between(random, 0.25, 0.75), between(random, 0.2, 0.6)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE_PX}" height="${SIZE_PX}" viewBox="0 0 800 800" color="${line}">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="${between(random, 0.15, 0.45).toFixed(2)}" y2="1">
      <stop offset="0" stop-color="${sky[0]}"/><stop offset="0.55" stop-color="${sky[1]}"/><stop offset="1" stop-color="${sky[2]}"/>
    </linearGradient>
    <radialGradient id="light" cx="${lightX.toFixed(2)}" cy="${lightY.toFixed(2)}" r="0.6">
      <stop offset="0" stop-color="${light}" stop-opacity="0.5"/><stop offset="1" stop-color="${light}" stop-opacity="0"/>
    </radialGradient>
    <radialGradient id="glow">
      <stop offset="0" stop-color="#ffb45e" stop-opacity="0.55"/><stop offset="1" stop-color="#ffb45e" stop-opacity="0"/>
    </radialGradient>
    <radialGradient id="edge" r="0.75"><stop offset="0.65" stop-opacity="0"/><stop offset="1" stop-opacity="0.28"/></radialGradient>
    <linearGradient id="metal" x1="0" y1="0" x2="0.6" y2="1">
      <stop offset="0" stop-color="${line}"/><stop offset="1" stop-color="${light}" stop-opacity="0.75"/>
    </linearGradient>
  </defs>
  <rect width="800" height="800" fill="url(#sky)"/>
  <rect width="800" height="800" fill="url(#light)"/>
  ${MOTIFS[motif](random, size)}
  <rect width="800" height="800" fill="url(#edge)"/>
</svg>`;
}

/** A cover as a JPEG of 800 x 800 pixels. */
export function renderCover(name: string, recipe: CoverRecipe): Promise<Buffer> {
  return sharp(Buffer.from(coverSvg(name, recipe)))
    .jpeg({ quality: 82 })
    .toBuffer();
}
