import { beginsIn, type Entry, type Index, type Sound } from './search-index.ts';
import type { SearchedWord } from './search-lookup.ts';

/** Parts of a sound in the order of their importance. */
const parts = ['title', 'labels', 'all'] as const;
type Part = (typeof parts)[number];

/** Length from which text inside of words of titles counts. */
const minLettersInside = 4;

/** Finds sounds with all words, then those with the folded text inside of their titles. */
export function withText<Item extends Sound>(index: Index<Item>, words: SearchedWord[], folded: string): Entry<Item>[] {
  const isKnown = words.every(({ spelled }) => spelled);
  const found = isKnown ? ranked(index, words, [], folded) : [];
  const inside = [...folded].length < minLettersInside ? [] : index.entries.filter(({ text }) => text.includes(folded));
  return [...new Set([...found, ...inside])];
}

/** Tells whether a word, such as "for", tells little of a sound. */
const isShort = ({ typed }: SearchedWord) => /^[a-z]{1,3}$/.test(typed);

/**
 * Leaves out words, the least telling one first and never the most telling one, until there are sounds with the others.
 * Keeps at least half of the known ones.
 */
export function withMostWords<Item extends Sound>(
  index: Index<Item>,
  words: SearchedWord[],
  newWords: string[],
): { found: Entry<Item>[]; kept: SearchedWord[] } {
  // Corrected words are last, then those of descriptions.
  const order = (word: SearchedWord) => 2 * +newWords.includes(word.typed) + +word.inDescriptionsOnly;
  const known = words.filter(({ spelled }) => spelled).sort((a, b) => order(a) - order(b) || a.count - b.count);
  const short = known.filter(isShort);
  const telling = known.filter((word) => !isShort(word));
  const most = Math.min(telling.length, words.length - 1);
  for (let number = most; number >= telling.length / 2; number--) {
    const kept = telling.slice(0, number);
    const isSelective = kept.some(({ count }) => count <= index.entries.length / 2);
    const found = isSelective ? ranked(index, kept, short) : [];
    if (found.length > 0) return { found, kept };
  }
  return { found: [], kept: [] };
}

/**
 * Returns sounds with all words, best first. Titles that begin with the folded text come before others. Of equal
 * sounds, those that also have the short words come first.
 */
function ranked<Item extends Sound>(
  { entries, byTitle }: Index<Item>,
  words: SearchedWord[],
  short: SearchedWord[],
  folded?: string,
): Entry<Item>[] {
  if (words.length === 0) return [];
  const found = parts.flatMap((part) =>
    [false, true].flatMap((withBeginnings) => {
      const beginning = part === 'title' && folded ? byTitle.filter(({ text }) => text.startsWith(folded)) : [];
      const matching = [...beginning, ...entries].filter((entry) =>
        words.every((word) => has(entry, word, part, withBeginnings)),
      );
      const withShort = matching.filter((entry) => short.every((word) => has(entry, word, 'all', true)));
      return [...withShort, ...matching];
    }),
  );
  return [...new Set(found)];
}

/** Tells whether a part of a sound has a word. The category belongs to its labels. */
function has({ sound, ...words }: Entry<Sound>, word: SearchedWord, part: Part, withBeginnings: boolean): boolean {
  const { spelled = '', joined, isWhole, isBeginning, slugs, slugsBeginning } = word;
  const own = words[part];
  const category = part === 'title' ? '' : (sound.category ?? '');
  if (isWhole && [spelled, `+${spelled}`, ...joined].some((form) => own.has(form))) return true;
  if (slugs?.has(category)) return true;
  if (!withBeginnings || !isBeginning) return false;
  return beginsIn(own, spelled) || slugsBeginning?.has(category) === true;
}
