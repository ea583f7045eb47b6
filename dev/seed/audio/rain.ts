import { between, chances, type Random } from '../random.ts';
import { filter } from './filter.ts';
import { strike } from './modes.ts';
import { brown, pink, white } from './noise.ts';
import { type Curve, mix, type Samples, shape, silence, wander } from './signal.ts';

export interface Rain {
  /** Level of the far rain, in which single drops cannot be told apart. */
  wash: number;
  /** Single drops near the listener, per second. */
  dropsPerSec: number;
  /** What the near drops fall on: where it rings, and for how long. */
  surface: { lowHz: number; highHz: number; ringSec: number };
}

/** Rain: a wash of countless far drops under single near ones. */
export function rain(sec: number, random: Random, { wash, dropsPerSec, surface }: Rain): Samples[] {
  const out = filter(white(sec, random), { pass: 'low', hz: 5_500, q: 0.5 });
  filter(out, { pass: 'high', hz: 500, q: 0.5 });
  const density = wander(random, sec, 3, 0.8, 1);
  shape(out, (at) => wash * density(at));
  const drops = silence(sec);
  for (const atSec of chances(random, dropsPerSec, sec)) {
    const hz = surface.lowHz * (surface.highHz / surface.lowHz) ** random();
    const ringSec = surface.ringSec * between(random, 0.5, 1.5);
    // Few drops are large or close: cubing leaves most of them faint.
    const level = 0.08 + 0.92 * random() ** 3;
    strike(drops, {
      atSec,
      hz,
      level,
      modes: [
        { ratio: 1, level: 1, ringSec },
        { ratio: 1.7, level: 0.4, ringSec: ringSec / 2 },
      ],
    });
  }
  mix(out, drops, 0.32);
  return [out];
}

/** Rain with thunder that rolls far away, at the given times. */
export function thunderstorm(
  sec: number,
  random: Random,
  { thunderSec }: { thunderSec: number[] },
): Samples[] {
  const surface = { lowHz: 1_200, highHz: 5_000, ringSec: 0.02 };
  const [out = silence(sec)] = rain(sec, random, { wash: 0.3, dropsPerSec: 160, surface });
  for (const atSec of thunderSec) {
    const roll = filter(brown(sec, random), {
      pass: 'low',
      hz: (at) => 90 + 260 * Math.exp(-Math.abs(at - atSec) / 2.5),
    });
    const rumble = wander(random, sec, 0.35, 0.15, 1);
    const envelope: Curve = (at) =>
      at < atSec ? 0 : (1 - Math.exp((atSec - at) / 0.25)) * Math.exp((atSec - at) / 3.2);
    mix(
      out,
      shape(roll, (at) => envelope(at) * rumble(at)),
      1.9,
    );
  }
  return [out];
}

/** Wind that whistles softly: noise through a resonance that wanders in pitch, stronger when it is higher. */
export function wind(
  sec: number,
  random: Random,
  { lowHz, highHz, q }: { lowHz: number; highHz: number; q: number },
): Samples[] {
  const gust = wander(random, sec, 2.6, 0, 1);
  const flutter = wander(random, sec, 0.4, -0.12, 0.12);
  const strength: Curve = (at) => Math.min(1, Math.max(0, gust(at) + flutter(at)));
  const out = filter(pink(sec, random), {
    pass: 'band',
    hz: (at) => lowHz * (highHz / lowHz) ** strength(at),
    q,
  });
  shape(out, (at) => 0.25 + 0.75 * strength(at));
  const body = filter(brown(sec, random), { pass: 'low', hz: (at) => 120 + 240 * strength(at) });
  mix(
    out,
    shape(body, (at) => 0.3 + 0.7 * strength(at)),
    0.25,
  );
  return [out];
}
