import { type CoverRecipe, renderCover } from './cover/cover.ts';
import type { MotifName } from './cover/motifs.ts';
import type { Intention } from './cover/palette.ts';

const cover = (intention: Intention, motif: MotifName): CoverRecipe => ({ intention, motif });

/** Every cover by its path in the `covers` bucket. */
export const COVER_RECIPES: Readonly<Record<string, CoverRecipe>> = {
  'bowls/c3-large-singing-bowl.jpg': cover('sleep', 'bowl'),
  'bowls/f3-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/g3-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/a3-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/b3-rubbed-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/c4-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/d4-singing-bowl.jpg': cover('meditation', 'bowl'),
  'bowls/e4-singing-bowl.jpg': cover('energy', 'bowl'),
  'bowls/c4-and-g4-singing-bowls.jpg': cover('stress-relief', 'bowl'),
  'bowls/a4-small-singing-bowl.jpg': cover('focus', 'bowl'),
  'rain/steady-rain.jpg': cover('sleep', 'rain'),
  'rain/light-rain-on-leaves.jpg': cover('stress-relief', 'rain'),
  'rain/rain-on-a-tent.jpg': cover('sleep', 'rain'),
  'rain/rain-with-distant-thunder.jpg': cover('sleep', 'rain'),
  'water/slow-ocean-waves.jpg': cover('stress-relief', 'waves'),
  'water/waves-on-pebbles.jpg': cover('stress-relief', 'waves'),
  'water/woodland-brook.jpg': cover('stress-relief', 'waves'),
  'wind/wind-in-the-pines.jpg': cover('stress-relief', 'wind'),
  'wind/wind-at-the-window.jpg': cover('sleep', 'wind'),
  'wind/winter-storm.jpg': cover('sleep', 'wind'),
  'night/summer-crickets.jpg': cover('sleep', 'night'),
  'night/campfire.jpg': cover('sleep', 'night'),
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
  'metal/tingsha.jpg': cover('meditation', 'chimes'),
  'metal/handpan-in-d-minor.jpg': cover('energy', 'gong'),
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
