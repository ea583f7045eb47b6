// The most similar word for a misspelt one. supabase/schemas/53_corrections.sql does the same.

/** A word of titles, tags or categories, and the number of sounds that have it. */
type KnownWord = [word: string, facts: { count: number }];

/** Returns the number of letters to insert, remove or replace. */
function levenshtein(a: string, b: string): number {
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + +(a[i - 1] !== b[j - 1]);
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns the spellings in which two neighbouring letters are swapped. */
function swaps(word: string): string[] {
  const letters = [...word];
  return letters
    .slice(1)
    .map((letter, n) => [...letters.slice(0, n), letter, letters[n], ...letters.slice(n + 2)].join(''));
}

function maxEdits(typed: string): number {
  if (typed.length < 4 || /\d/.test(typed)) return 0;
  return typed.length < 8 ? 1 : 2;
}

/**
 * Returns a function that counts edits between a typed word and a word. A swap of neighbours is one edit. The first two
 * letters stay, and the first three with two edits, because people rarely mistype a beginning.
 */
function editsFrom(typed: string): (word: string) => number {
  const most = maxEdits(typed);
  const swapped = swaps(typed);
  const swappedTwice = new Set(swapped.flatMap(swaps));
  return (word) => {
    if (swapped.includes(word)) return 1;
    if (Math.abs(word.length - typed.length) > most || !word.startsWith(typed.slice(0, 2))) return Infinity;
    const edits = levenshtein(typed, word);
    if (edits === 1 || most === 1) return edits;
    if (!word.startsWith(typed.slice(0, 3))) return Infinity;
    if (swappedTwice.has(word)) return Math.min(edits, 2);
    return Math.min(edits, ...swapped.map((spelled) => 1 + levenshtein(spelled, word)));
  };
}

/** Returns the word with the fewest edits, of several the most frequent one. Undefined if none is similar. */
export function correctionOf(typed: string, known: KnownWord[]): string | undefined {
  const most = maxEdits(typed);
  const editsTo = editsFrom(typed);
  const similar = known
    .map(([word, { count }]) => ({ word, count, edits: editsTo(word) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits || b.count - a.count || (a.word < b.word ? -1 : 1));
  return similar[0]?.word;
}
