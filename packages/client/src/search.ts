import { correctionOf } from './search-corrections.ts';
import { type Category, createIndex, type Entry, type Index, type Sound } from './search-index.ts';
import { findWords, type SearchedWord } from './search-lookup.ts';
import { withMostWords, withText } from './search-ranking.ts';
import { fold, wordsOf } from './search-words.ts';

// Searches the copy of the catalogue. supabase/schemas/53_search.sql does the same in the service.
//
// Read createSearch first, then what it calls, in this order:
//   search-words.ts        folds a text and splits it into words;
//   search-index.ts        collects the words of the copy;
//   search-lookup.ts       looks the words of a search up in them;
//   search-ranking.ts      orders the sounds that have words;
//   search-corrections.ts  finds the most similar word for a misspelt one.

/** Result of a search. */
export interface Found<Item> {
  /** The found sounds, best first. */
  data: Item[];
  /** The text with corrected words, if these are sounds for it. */
  corrected_q?: string;
}

const maxCorrections = 3;

/**
 * Prepares the search of a copy, which finds and orders sounds like the parameter `q` of GET /sounds.
 * @param sounds in list order
 * @param categories the visible ones
 */
export function createSearch<Item extends Sound>(sounds: Item[], categories: Category[]) {
  const index = createIndex(sounds, categories);

  return (searched: string): Found<Item> => {
    const soundsOf = (found: Entry<Item>[]) => found.map(({ sound }) => sound);

    // 1. All words as typed
    const folded = fold(searched).trim();
    const words = findWords(index, folded);
    const asTyped = withText(index, words, folded);
    if (asTyped.length > 0) return { data: soundsOf(asTyped) };

    // 2. All words, misspelt ones corrected. Without corrections, finds nothing again.
    const correctedQ = correctedText(index, searched, words);
    const foldedCorrected = fold(correctedQ).trim();
    const correctedWords = findWords(index, foldedCorrected);
    const corrected = withText(index, correctedWords, foldedCorrected);
    if (corrected.length > 0) return { data: soundsOf(corrected), corrected_q: correctedQ };

    // 3. Fewer words
    const newWords = wordsOf(foldedCorrected).filter((word) => !wordsOf(folded).includes(word));
    const { found, kept } = withMostWords(index, correctedWords, newWords);
    const hasCorrection = kept.some(({ typed }) => newWords.includes(typed));
    return { data: soundsOf(found), ...(hasCorrection && { corrected_q: correctedQ }) };
  };
}

/**
 * Returns a text, in which the most similar words replace the three longest ones that no sound has. Folds the parts
 * between spaces that have one.
 */
function correctedText({ vocabulary }: Index<Sound>, text: string, words: SearchedWord[]): string {
  const misspelt = words.filter(({ spelled }) => !spelled).map(({ typed }) => typed);
  const longest = misspelt.sort((a, b) => b.length - a.length).slice(0, maxCorrections);
  const known = [...vocabulary].filter(([, { inDescriptionsOnly }]) => !inDescriptionsOnly);
  let parts = text.trim().split(/\s+/);
  for (const word of longest) {
    const correction = correctionOf(word, known);
    if (correction)
      parts = parts.map((part) => (wordsOf(part).includes(word) ? fold(part).replaceAll(word, correction) : part));
  }
  return parts.join(' ');
}
