/** Of `npm run dev`, Compose and the Supabase CLI, which read the same .env; and of Kubernetes, for a service named redis. */
const ofOthers =
  /^SUPABASE_(PORT|DB_PORT|ACCESS_TOKEN|DB_PASSWORD|PROJECT_ID)$|^REDIS_PASSWORD$|_SERVICE_(HOST|PORT)|_PORT(_\d|$)/;

/** A name, and what it becomes when one letter is left out. */
const shortened = (name: string) =>
  new Set([name, ...Array.from(name, (_, index) => name.slice(0, index) + name.slice(index + 1))]);

/** How names begin: with two words, or with one where there are only two. */
function beginningOf(name: string): string {
  const words = name.split('_');
  return words.length === 1 ? name : `${words.slice(0, Math.min(2, words.length - 1)).join('_')}_`;
}

/**
 * Variables that are set, are none of the known ones, and look like one: they begin like it, or miss by a letter.
 * @returns each with the known one that is meant, null where several may be
 */
export function unknownVariables(set: readonly string[], known: readonly string[]) {
  const beginnings = known.filter((name) => name.includes('_')).map(beginningOf);
  return set
    .filter((name) => !known.includes(name) && !ofOthers.test(name))
    .map((name) => {
      const letters = shortened(name);
      // One letter too many, too few or wrong, or two exchanged.
      return { name, meant: known.find((each) => !shortened(each).isDisjointFrom(letters)) ?? null };
    })
    .filter(
      ({ name, meant }) => meant !== null || beginnings.some((beginning) => name.startsWith(beginning)),
    );
}
