import { createInterface } from 'node:readline';
import { startFfmpeg } from './ffmpeg.ts';

/** Loudness in LUFS below which ITU-R BS.1770 ignores a block of 400 ms. */
export const silenceLufs = -70;

/** Loudness in LU by which a block may be quieter than all audible ones, before ITU-R BS.1770 ignores it. */
const gateLu = 10;

/** Returns the mean loudness of blocks, as the mean of their power. */
const meanOf = (blocks: number[]) =>
  10 * Math.log10(blocks.reduce((sum, lufs) => sum + 10 ** (lufs / 10), 0) / blocks.length);

/**
 * Measures the loudness of a recording whose channels or sample rate change. ffmpeg measures each part alone, so this
 * combines the blocks of all parts by the gates of ITU-R BS.1770-4.
 * @returns LUFS, or NaN for silence
 * @throws Rejected, ImportError
 */
export async function loudnessOfParts(source: string, maxSeconds: number): Promise<number> {
  const outputs = '-map 0:a:0 -af ebur128=dualmono=true:framelog=info -f null -'.split(' ');
  const { stderr, ended } = startFfmpeg(source, outputs, maxSeconds);
  const blocks: number[] = [];
  const lines = createInterface(stderr).on('line', (line) => {
    const [, momentary] = / M: *(\S+) /.exec(line) ?? [];
    if (momentary !== undefined) blocks.push(Number(momentary));
  });
  await ended.finally(() => lines.close());
  const audible = blocks.filter((lufs) => lufs > silenceLufs);
  const gate = meanOf(audible) - gateLu;
  return Math.round(10 * meanOf(audible.filter((lufs) => lufs > gate))) / 10;
}
