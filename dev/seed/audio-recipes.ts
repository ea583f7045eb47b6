import { type Bowl, bowl, rubbedBowl } from './audio/bowl.ts';
import { type Breath, breathPacer } from './audio/breath.ts';
import { gong, handpan, tingsha, windChimes } from './audio/metal.ts';
import { campfire, crickets } from './audio/night.ts';
import { brown, fan, pink, white } from './audio/noise.ts';
import { noteHz } from './audio/note.ts';
import { binaural, clock, frameDrum, pulsedTone } from './audio/pulse.ts';
import { type Rain, rain, thunderstorm, wind } from './audio/rain.ts';
import { finish, mix, type Samples } from './audio/signal.ts';
import { monochord, shrutiBox, softChord, tanpura } from './audio/strings.ts';
import { brook, waves } from './audio/water.ts';
import { type Random, randomFor } from './random.ts';
import { encodeWav } from './wav.ts';

type Player = (sec: number, random: Random) => Samples[];

/** How one audio file is made. */
export interface AudioRecipe {
  sec: number;
  fadeInSec: number;
  fadeOutSec: number;
  play: Player;
}

/** Something struck: it begins with its own attack and is let ring as long as the file allows. */
const struck = (sec: number, play: Player): AudioRecipe => ({ sec, play, fadeInSec: 0.01, fadeOutSec: 5 });
/** Something without beginning or end. */
const steady = (sec: number, play: Player): AudioRecipe => ({ sec, play, fadeInSec: 1.5, fadeOutSec: 2.5 });
/** Something counted, whose first and last beat must be heard in full. */
const counted = (sec: number, play: Player): AudioRecipe => ({ sec, play, fadeInSec: 0.01, fadeOutSec: 0.2 });

function bowlStruckAt(sec: number, strikesSec: number[], options: Omit<Bowl, 'strikes'>): AudioRecipe {
  const strikes = strikesSec.map((atSec, index) => ({ atSec, level: index === 0 ? 1 : 0.85 }));
  return struck(sec, (length, random) => bowl(length, random, { ...options, strikes }));
}

function bowlPair(sec: number): AudioRecipe {
  const lower = bowlStruckAt(sec, [0.1, 14.1], { hz: noteHz('C4'), ringSec: 24, beatHz: 0.6 });
  const upper = bowlStruckAt(sec, [7.1, 21.1], { hz: noteHz('G4'), ringSec: 18, beatHz: 0.9 });
  return struck(sec, (length, random) => {
    const [out] = lower.play(length, random) as [Samples];
    const [fifth] = upper.play(length, random) as [Samples];
    mix(out, fifth, 0.6);
    return [out];
  });
}

const rainOn = (sec: number, options: Rain) => steady(sec, (length, random) => rain(length, random, options));
const windOf = (sec: number, lowHz: number, highHz: number, q: number) =>
  steady(sec, (length, random) => wind(length, random, { lowHz, highHz, q }));
const breathOf = (sec: number, breath: Breath) =>
  counted(sec, (length, random) => breathPacer(length, random, breath));
const binauralOf = (sec: number, hz: number, beatHz: number) =>
  steady(sec, (length, random) => binaural(length, random, { hz, beatHz }));

/** Every audio file by its path in the `audio` bucket. */
export const AUDIO_RECIPES: Readonly<Record<string, AudioRecipe>> = {
  'bowls/c3-large-singing-bowl.wav': bowlStruckAt(40, [0.1, 20.1], {
    hz: noteHz('C3'),
    ringSec: 34,
    beatHz: 0.35,
  }),
  'bowls/f3-singing-bowl.wav': bowlStruckAt(36, [0.1, 18.1], { hz: noteHz('F3'), ringSec: 30, beatHz: 0.45 }),
  'bowls/g3-singing-bowl.wav': bowlStruckAt(36, [0.1, 18.1], { hz: noteHz('G3'), ringSec: 28, beatHz: 0.5 }),
  'bowls/a3-singing-bowl.wav': bowlStruckAt(32, [0.1, 16.1], { hz: noteHz('A3'), ringSec: 26, beatHz: 0.55 }),
  'bowls/b3-rubbed-singing-bowl.wav': struck(34, (sec, random) =>
    rubbedBowl(sec, random, { hz: noteHz('B3'), beatHz: 0.6 }),
  ),
  'bowls/c4-singing-bowl.wav': bowlStruckAt(32, [0.1, 16.1], { hz: noteHz('C4'), ringSec: 25, beatHz: 0.6 }),
  'bowls/d4-singing-bowl.wav': bowlStruckAt(30, [0.1, 15.1], { hz: noteHz('D4'), ringSec: 23, beatHz: 0.7 }),
  'bowls/e4-singing-bowl.wav': bowlStruckAt(30, [0.1, 15.1], { hz: noteHz('E4'), ringSec: 21, beatHz: 0.8 }),
  'bowls/c4-and-g4-singing-bowls.wav': bowlPair(36),
  'bowls/a4-small-singing-bowl.wav': bowlStruckAt(24.5, [0.1, 5.1, 10.1], {
    hz: noteHz('A4'),
    ringSec: 15,
    beatHz: 1.2,
  }),

  'rain/steady-rain.wav': rainOn(40, {
    wash: 0.5,
    dropsPerSec: 260,
    surface: { lowHz: 1_400, highHz: 6_000, ringSec: 0.012 },
  }),
  'rain/light-rain-on-leaves.wav': rainOn(36, {
    wash: 0.045,
    dropsPerSec: 38,
    surface: { lowHz: 900, highHz: 4_200, ringSec: 0.018 },
  }),
  'rain/rain-on-a-tent.wav': rainOn(36, {
    wash: 0.06,
    dropsPerSec: 120,
    surface: { lowHz: 240, highHz: 1_100, ringSec: 0.035 },
  }),
  'rain/rain-with-distant-thunder.wav': steady(40, (sec, random) =>
    thunderstorm(sec, random, { thunderSec: [6, 21, 29] }),
  ),

  'water/slow-ocean-waves.wav': steady(40, (sec, random) =>
    waves(sec, random, { periodSec: 10, pebbles: false }),
  ),
  'water/waves-on-pebbles.wav': steady(36, (sec, random) =>
    waves(sec, random, { periodSec: 7, pebbles: true }),
  ),
  'water/woodland-brook.wav': steady(36, (sec, random) => brook(sec, random, { bubblesPerSec: 55 })),
  'wind/wind-in-the-pines.wav': windOf(36, 420, 1_500, 0.7),
  'wind/wind-at-the-window.wav': windOf(36, 300, 850, 5),
  'wind/winter-storm.wav': windOf(36, 220, 1_300, 2.5),
  'night/summer-crickets.wav': steady(36, crickets),
  'night/campfire.wav': steady(36, campfire),

  'noise/brown-noise.wav': steady(30, (sec, random) => [brown(sec, random)]),
  'noise/pink-noise.wav': steady(30, (sec, random) => [pink(sec, random)]),
  'noise/white-noise.wav': steady(30, (sec, random) => [white(sec, random)]),
  'noise/bedroom-fan.wav': steady(30, fan),

  'breath/even-breath-4-6.wav': breathOf(40, { inSec: 4, holdSec: 0, outSec: 6, restSec: 0 }),
  'breath/box-breath-4-4-4-4.wav': breathOf(32, { inSec: 4, holdSec: 4, outSec: 4, restSec: 4 }),
  'breath/long-breath-4-7-8.wav': breathOf(38, { inSec: 4, holdSec: 7, outSec: 8, restSec: 0 }),

  'drones/tanpura-in-c3.wav': struck(34.5, (sec, random) => tanpura(sec, random, { groundHz: noteHz('C3') })),
  'drones/monochord-in-d3.wav': struck(36, (sec, random) => monochord(sec, random, { hz: noteHz('D3') })),
  'drones/shruti-box-in-a2.wav': steady(32, (sec, random) =>
    shrutiBox(sec, random, { notesHz: ['A2', 'E3', 'A3'].map(noteHz) }),
  ),
  'drones/soft-chord-in-g.wav': steady(36, (sec, random) =>
    softChord(sec, random, { notesHz: ['G2', 'D3', 'G3', 'A3', 'B3', 'D4'].map(noteHz) }),
  ),

  'metal/slow-gong.wav': struck(40, (sec, random) => gong(sec, random, { hz: 68, strikesSec: [0.1, 16.1] })),
  'metal/garden-wind-chimes.wav': struck(20, windChimes),
  'metal/tingsha.wav': struck(24, (sec) => tingsha(sec, { hz: 2_093, strikesSec: [0.1, 8.1, 16.1] })),
  'metal/handpan-in-d-minor.wav': struck(36, handpan),

  'tones/binaural-6-hz.wav': binauralOf(20, 180, 6),
  'tones/binaural-10-hz.wav': binauralOf(20, 200, 10),
  'tones/pulsed-tone-14-hz.wav': steady(24, (sec) => pulsedTone(sec, { hz: 220, pulsesPerSec: 14 })),
  'rhythm/heartbeat-frame-drum.wav': counted(32, (sec, random) =>
    frameDrum(sec, random, { beatsPerMin: 56 }),
  ),
  'rhythm/mantel-clock.wav': counted(30, clock),
};

/** The finished WAV file of a recipe: always the same bytes for the same path. */
export function makeAudio(path: string): Buffer {
  const recipe = AUDIO_RECIPES[path];
  if (recipe === undefined) throw new Error(`no recipe for ${path}`);
  const channels = recipe.play(recipe.sec, randomFor(path));
  return encodeWav(finish(channels, recipe.fadeInSec, recipe.fadeOutSec));
}
