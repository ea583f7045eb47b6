import type { Random } from '../random.ts';
import { breath, noise, pulse, tones } from './figures.ts';
import { bowl, chimes, cymbals, gong, handpan, strings } from './instruments.ts';
import { fire, flow, night, rain, waves } from './nature.ts';

/** Draws what a sound is made by: SVG elements on a canvas of 800 x 800, in `currentColor`. */
type Motif = (random: Random, size: number) => string;

export const MOTIFS = {
  bowl,
  gong,
  handpan,
  cymbals,
  chimes,
  strings,
  rain,
  waves,
  flow,
  night,
  fire,
  noise,
  breath,
  tones,
  pulse,
} satisfies Record<string, Motif>;

export type MotifName = keyof typeof MOTIFS;
