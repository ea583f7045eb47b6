import { beginsIn, type Entry, type Index, type Sound } from './search-index.ts';
import type { SearchedWord } from './search-lookup.ts';

/** Parts of a sound in the order of their importance. */
const parts = ['title', 'labels', 'all'] as const;
type Part = (typeof parts)[number];

/** Length from which text inside of words of titles counts. */
const minLettersInside = 4;

/** Finds sounds with all words, then those with the folded text inside of their titles. */
export function asTyped<Item extends Sound>(index: Index<Item>, words: SearchedWord[], folded: string): Entry<Item>[] {
  const isKnown = words.every(({ spelled }) => spelled);
  const found = isKnown ? ranked(index, words, folded) : [];
  const inside = [...folded].length < minLettersInside ? [] : index.entries.filter(({ text }) => text.includes(folded));
  return [...new Set([...found, ...inside])];
}

/** Tells whether a word, such as "for", tells little of a sound. */
const isShort = ({ typed }: SearchedWord) => /^[a-z]{1,3}$/.test(typed);

/** Finds sounds with as many of the most telling words as any sound has, at least half of them. */
export function withMostWords<Item extends Sound>(
  index: Index<Item>,
  words: SearchedWord[],
  corrected: string[],
): { found: Entry<Item>[]; kept: SearchedWord[] } {
  // Short words are last, then corrected ones, then those of descriptions.
  const order = (word: SearchedWord) =>
    4 * +isShort(word) + 2 * +corrected.includes(word.typed) + +word.inDescriptionsOnly;
  const known = words.filter(({ spelled }) => spelled).sort((a, b) => order(a) - order(b) || a.count - b.count);
  const most = Math.min(known.length, words.length - 1);
  for (let number = most; number >= known.length / 2; number--) {
    const kept = known.slice(0, number);
    const isSelective = kept.some((word) => word.count <= index.entries.length / 2 && !isShort(word));
    const found = isSelective ? ranked(index, kept) : [];
    if (found.length > 0) return { found, kept };
  }
  return { found: [], kept: [] };
}

/** Returns sounds with all words, best first. Titles that begin with the folded text come before others. */
function ranked<Item extends Sound>(
  { entries, byTitle }: Index<Item>,
  words: SearchedWord[],
  folded?: string,
): Entry<Item>[] {
  if (words.length === 0) return [];
  const found = new Set<Entry<Item>>();
  for (const part of parts) {
    for (const withBeginnings of [false, true]) {
      const matches = (entry: Entry<Item>) => words.every((word) => has(entry, word, part, withBeginnings));
      if (part === 'title' && folded)
        for (const entry of byTitle) if (entry.text.startsWith(folded) && matches(entry)) found.add(entry);
      for (const entry of entries) if (!found.has(entry) && matches(entry)) found.add(entry);
    }
  }
  return [...found];
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
