import { Presets, SingleBar } from 'cli-progress';
import { megabytes } from './text.ts';

/** Returns a progress bar that shows these fields after its percentage. */
export const newBar = (fields: string) =>
  new SingleBar(
    {
      format: `{bar} {percentage}% | ${fields}`,
      barsize: 24,
      etaBuffer: 200,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );

export function rateOf(bytes: number, startedMs: number): string {
  const seconds = Math.max(performance.now() - startedMs, 1) / 1000;
  return `${megabytes(bytes / seconds)}/s`;
}
