/** Matches variables of `npm run dev`, Compose and the Supabase CLI, and of Kubernetes for a service named redis. */
const ofOthers =
  /^SUPABASE_(PORT|DB_PORT|ACCESS_TOKEN|DB_PASSWORD|PROJECT_ID)$|^REDIS_PASSWORD$|_SERVICE_(HOST|PORT)|_PORT(_\d|$)/;

/** Returns a name, and the name without each of its letters. */
const shortened = (name: string) =>
  new Set([name, ...Array.from(name, (_, index) => name.slice(0, index) + name.slice(index + 1))]);

/** Returns the first two words of a name, or the first one if it has only two. */
const beginningOf = (name: string) => /^[^_]+_([^_]+_)?/.exec(name)?.[0];

/** Returns unknown variables that begin like a known one, or differ by one letter from the one that is `meant`. */
export function unknownVariables(set: readonly string[], known: readonly string[]) {
  const beginnings = known.map(beginningOf).filter((beginning) => beginning !== undefined);
  return set
    .filter((name) => !known.includes(name) && !ofOthers.test(name))
    .map((name) => {
      const letters = shortened(name);
      // One letter is extra, missing or wrong, or two are swapped.
      return { name, meant: known.find((each) => !shortened(each).isDisjointFrom(letters)) ?? null };
    })
    .filter(({ name, meant }) => meant !== null || beginnings.some((beginning) => name.startsWith(beginning)));
}
