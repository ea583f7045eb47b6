/**
 * A fixture that needs no other.
 * @param provide makes the value, hands it to `use`, and clears away when that resolves
 */
export const fixture =
  <T>(provide: (use: (value: T) => Promise<void>) => Promise<void>) =>
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures that are needed from this pattern
  ({}, use: (value: T) => Promise<void>) =>
    provide(use);
