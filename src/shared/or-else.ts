/** Returns what a function returns, or the fallback if it throws. */
export function orElse<T, F>(run: () => T, fallback: F): T | F {
  try {
    return run();
  } catch {
    return fallback;
  }
}
