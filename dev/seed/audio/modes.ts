import { SAMPLE_RATE, type Samples } from './signal.ts';

/** One way in which a struck thing vibrates. */
export interface Mode {
  /** Frequency, as a multiple of the thing's lowest. */
  ratio: number;
  level: number;
  /** Seconds until it has faded by 60 dB. */
  ringSec: number;
  /** Seconds until it is at full level. */
  attackSec?: number;
}

export interface Strike {
  atSec: number;
  hz: number;
  level: number;
  modes: Mode[];
}

const SHORTEST_ATTACK_SEC = 0.002;
const INAUDIBLE_DB = 90;

/** Strikes a thing: adds each of its modes to a channel as a sine that fades exponentially. */
export function strike(out: Samples, { atSec, hz, level, modes }: Strike): void {
  for (const mode of modes) {
    const modeHz = hz * mode.ratio;
    if (modeHz < SAMPLE_RATE * 0.45) ring(out, atSec, modeHz, { ...mode, level: level * mode.level });
  }
}

/** The sine is a two-term recurrence, which costs two multiplications a sample. */
function ring(out: Samples, atSec: number, hz: number, { level, ringSec, attackSec }: Mode): void {
  const start = Math.round(atSec * SAMPLE_RATE);
  const samples = Math.round((ringSec * SAMPLE_RATE * INAUDIBLE_DB) / 60);
  const end = Math.min(out.length, start + samples);
  const attack = Math.max(attackSec ?? 0, SHORTEST_ATTACK_SEC) * SAMPLE_RATE;
  const attackEnd = Math.min(end, start + Math.round(attack));
  const radius = 0.001 ** (1 / (ringSec * SAMPLE_RATE));
  const angle = (2 * Math.PI * hz) / SAMPLE_RATE;
  const twist = 2 * radius * Math.cos(angle);
  const decay = radius * radius;
  let value = 0;
  let next = level * radius * Math.sin(angle);
  let i = start;
  for (; i < attackEnd; i++) {
    const rise = 0.5 - 0.5 * Math.cos((Math.PI * (i - start)) / attack);
    out[i] = (out[i] as number) + rise * value;
    [value, next] = [next, twist * next - decay * value];
  }
  for (; i < end; i++) {
    out[i] = (out[i] as number) + value;
    const after = twist * next - decay * value;
    value = next;
    next = after;
  }
}
