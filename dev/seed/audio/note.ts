const SEMITONES = new Map([
  ['C', -9],
  ['C#', -8],
  ['D', -7],
  ['D#', -6],
  ['E', -5],
  ['F', -4],
  ['F#', -3],
  ['G', -2],
  ['G#', -1],
  ['A', 0],
  ['A#', 1],
  ['B', 2],
]);

/** The frequency in Hz of a note such as `C4` or `F#3`, in equal temperament with A4 = 440 Hz. */
export function noteHz(note: string): number {
  const semitone = SEMITONES.get(note.slice(0, -1));
  const octave = Number(note.at(-1));
  if (semitone === undefined || Number.isNaN(octave)) throw new Error(`${note} is not a note`);
  return 440 * 2 ** (octave - 4 + semitone / 12);
}
