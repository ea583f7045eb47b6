import type { Readable } from 'node:stream';

/** Number of samples for each peak: 10 ms of one channel. */
const blockSize = 160;

/** Peak of a recording below which its waveform is not scaled further, because it is only noise: -60 dBFS. */
const quietestPeak = 33;

/** Reads samples of 16 bits. @returns their number, and the peak of each block, from 0 to 32768 */
export async function readPeaks(samples: Readable): Promise<{ samples: number; peaks: number[] }> {
  const peaks: number[] = [];
  let [count, highest] = [0, 0];
  let rest = Buffer.alloc(0);
  for await (const chunk of samples) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % 2);
    for (let at = 0; at < end; at += 2) {
      highest = Math.max(highest, Math.abs(bytes.readInt16LE(at)));
      count += 1;
      if (count % blockSize === 0) [highest] = [0, peaks.push(highest)];
    }
    rest = bytes.subarray(end);
  }
  return { samples: count, peaks };
}

/** Returns the peaks of 200 equal parts, from 0 for silence to 100 for the highest one of the recording. */
export function waveformOf(peaks: number[]): number[] {
  const parts = Array.from({ length: 200 }, (_, part) => {
    const [start, end] = [Math.floor((part * peaks.length) / 200), Math.ceil(((part + 1) * peaks.length) / 200)];
    return peaks.slice(start, end).reduce((a, b) => Math.max(a, b), 0);
  });
  const highest = Math.max(quietestPeak, ...parts);
  return parts.map((peak) => Math.round((100 * peak) / highest));
}
