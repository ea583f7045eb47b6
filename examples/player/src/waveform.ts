/** Returns the image of a waveform as CSS. A sound that was not measured gets a line. */
export function waveform(peaks: readonly number[] | null = null) {
  const heightOf = (at: number) => Math.max(4, ...(peaks?.slice(at, at + 2) ?? []));
  const bars = Array.from({ length: 100 }, (_, at) => `M${at + 0.5} ${50 - heightOf(2 * at) / 2}v${heightOf(2 * at)}`);
  const box = 'viewBox="0 0 100 100" preserveAspectRatio="none"';
  const path = `<path stroke="#000" stroke-width=".6" d="${bars.join('')}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${path}</svg>`;
  return `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
}
