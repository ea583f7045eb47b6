/**
 * Defines a fixture that needs no other fixture.
 * @param provide makes the value, passes it to `use`, and cleans up when that resolves
 */
export const fixture =
  <T>(provide: (use: (value: T) => Promise<void>) => Promise<void>) =>
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the required fixtures from this pattern
  ({}, use: (value: T) => Promise<void>) =>
    provide(use);
