/** Matches variables of `npm run dev`, Compose and the Supabase CLI, and of Kubernetes for a service named redis. */
const ofOthers =
  /^SUPABASE_(PORT|DB_PORT|ACCESS_TOKEN|DB_PASSWORD|PROJECT_ID)$|^REDIS_PASSWORD$|_SERVICE_(HOST|PORT)|_PORT(_\d|$)/;

/** Returns the first two words of a name, or the first one if it has only two. */
const beginningOf = (name: string) => /^[^_]+_([^_]+_)?/.exec(name)?.[0];

/** Returns the variables that are set and begin like a known one, but are not read. */
export function unknownVariables(set: readonly string[], known: readonly string[]): string[] {
  const beginnings = known.map(beginningOf).filter((beginning) => beginning !== undefined);
  return set
    .filter((name) => !known.includes(name) && !ofOthers.test(name))
    .filter((name) => beginnings.some((beginning) => name.startsWith(beginning)));
}
