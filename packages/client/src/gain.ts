/** Loudness that all sounds should have, in LUFS. */
const targetLufs = -18;

/** Maximum amplification, because more would make the noise of a quiet sound audible. */
const mostDb = 12;

/** Facts of a sound, which `sounds.get` and the offline copy have. */
export interface Measured {
  loudness_lufs: number | null;
  true_peak_dbtp: number | null;
}

/**
 * Returns the factor for the volume of a sound, so that all sounds are equally loud and none is distorted; 1 for a
 * sound that was not measured.
 */
export function gainOf({ loudness_lufs, true_peak_dbtp }: Measured): number {
  if (loudness_lufs == null) return 1; // undefined in the copy of an earlier version
  return 10 ** (Math.min(targetLufs - loudness_lufs, mostDb, -(true_peak_dbtp ?? 0)) / 20);
}
