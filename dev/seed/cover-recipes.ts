import { type CoverRecipe, renderCover } from './cover/cover.ts';
import type { MotifName } from './cover/motifs.ts';
import type { Intention } from './cover/palette.ts';

/** The lower its note, the larger a bowl. */
const bowl = (intention: Intention, size: number): CoverRecipe => ({ intention, motif: 'bowl', size });
const cover = (intention: Intention, motif: MotifName): CoverRecipe => ({ intention, motif });

/** Every cover by its path in the `covers` bucket. */
export const COVER_RECIPES: Readonly<Record<string, CoverRecipe>> = {
  'bowls/c3-large-singing-bowl.jpg': bowl('sleep', 1.25),
  'bowls/f3-singing-bowl.jpg': bowl('meditation', 1.15),
  'bowls/g3-singing-bowl.jpg': bowl('meditation', 1.1),
  'bowls/a3-singing-bowl.jpg': bowl('meditation', 1.02),
  'bowls/b3-rubbed-singing-bowl.jpg': bowl('meditation', 0.97),
  'bowls/c4-singing-bowl.jpg': bowl('meditation', 0.92),
  'bowls/d4-singing-bowl.jpg': bowl('meditation', 0.86),
  'bowls/e4-singing-bowl.jpg': bowl('energy', 0.8),
  'bowls/c4-and-g4-singing-bowls.jpg': bowl('stress-relief', 0.92),
  'bowls/a4-small-singing-bowl.jpg': bowl('focus', 0.66),
  'rain/steady-rain.jpg': cover('sleep', 'rain'),
  'rain/light-rain-on-leaves.jpg': cover('stress-relief', 'rain'),
  'rain/rain-on-a-tent.jpg': cover('sleep', 'rain'),
  'rain/rain-with-distant-thunder.jpg': cover('sleep', 'rain'),
  'water/slow-ocean-waves.jpg': cover('stress-relief', 'waves'),
  'water/waves-on-pebbles.jpg': cover('stress-relief', 'waves'),
  'water/woodland-brook.jpg': cover('stress-relief', 'flow'),
  'wind/wind-in-the-pines.jpg': cover('stress-relief', 'flow'),
  'wind/wind-at-the-window.jpg': cover('sleep', 'flow'),
  'wind/winter-storm.jpg': cover('sleep', 'flow'),
  'night/summer-crickets.jpg': cover('sleep', 'night'),
  'night/campfire.jpg': cover('sleep', 'fire'),
  'noise/brown-noise.jpg': cover('sleep', 'noise'),
  'noise/pink-noise.jpg': cover('focus', 'noise'),
  'noise/white-noise.jpg': cover('focus', 'noise'),
  'noise/bedroom-fan.jpg': cover('sleep', 'noise'),
  'breath/even-breath-4-6.jpg': cover('stress-relief', 'breath'),
  'breath/box-breath-4-4-4-4.jpg': cover('stress-relief', 'breath'),
  'breath/long-breath-4-7-8.jpg': cover('sleep', 'breath'),
  'drones/tanpura-in-c3.jpg': cover('meditation', 'strings'),
  'drones/monochord-in-d3.jpg': cover('meditation', 'strings'),
  'drones/shruti-box-in-a2.jpg': cover('meditation', 'strings'),
  'drones/soft-chord-in-g.jpg': cover('focus', 'strings'),
  'metal/slow-gong.jpg': cover('meditation', 'gong'),
  'metal/garden-wind-chimes.jpg': cover('energy', 'chimes'),
  'metal/tingsha.jpg': cover('meditation', 'cymbals'),
  'metal/handpan-in-d-minor.jpg': cover('energy', 'handpan'),
  'tones/binaural-6-hz.jpg': cover('meditation', 'tones'),
  'tones/binaural-10-hz.jpg': cover('focus', 'tones'),
  'tones/pulsed-tone-14-hz.jpg': cover('energy', 'tones'),
  'rhythm/heartbeat-frame-drum.jpg': cover('energy', 'pulse'),
  'rhythm/mantel-clock.jpg': cover('focus', 'pulse'),
};

/** The JPEG file of a recipe: always the same picture for the same path. */
export function makeCover(path: string): Promise<Buffer> {
  const recipe = COVER_RECIPES[path];
  if (recipe === undefined) throw new Error(`no recipe for ${path}`);
  return renderCover(path, recipe);
}
