/** Gives numbers in [0, 1). */
export type Random = () => number;

/** A small generator (mulberry32) seeded from a name: the same name gives the same numbers on every machine. */
export function randomFor(name: string): Random {
  let state = 0x811c9dc5;
  for (const char of name) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A number in [low, high). */
export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

/** Times in seconds of events that happen by chance, `perSec` of them on average, until `untilSec`. */
export function* chances(random: Random, perSec: number, untilSec: number): Generator<number> {
  let at = 0;
  while (true) {
    at -= Math.log(1 - random()) / perSec;
    if (at >= untilSec) return;
    yield at;
  }
}
