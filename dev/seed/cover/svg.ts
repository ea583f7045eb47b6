/** The whole numbers below `count`. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** A length in pixels as it is written in SVG. */
export function px(value: number): string {
  return value.toFixed(1);
}
