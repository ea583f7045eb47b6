import { beginsIn, type Index, type Sound, type Words } from './search-index.ts';
import { joinedWords, mayBePair, wordsOf } from './search-words.ts';

/** A word of a search. */
export interface SearchedWord {
  /** The folded word. */
  typed: string;
  /** Spelling in the catalogue. Undefined if no sound or category has the word, or a longer one that counts. */
  spelled?: string;
  /** The word joined with its neighbours, because "lo fi" is also written "lofi". Empty for pairs of letters. */
  joined: string[];
  isLast: boolean;
  /** True if a sound or a category has the word itself, or joined with a neighbour. */
  isWhole?: boolean;
  /** True if longer words that begin with it match, too. */
  isBeginning?: boolean;
  /** Slugs of categories whose name or slug has the word, and of their sub-categories. */
  slugs?: ReadonlySet<string>;
  /** Slugs of categories whose name or slug has a word that begins with it, and of their sub-categories. */
  slugsBeginning?: ReadonlySet<string>;
  /** Number of sounds and categories that have it, or else the most frequent longer word. */
  count: number;
  inDescriptionsOnly: boolean;
}

const maxCategories = 20;

/** Finds in the catalogue what the words of a folded search could mean. */
export function findWords(index: Index<Sound>, folded: string): SearchedWord[] {
  // Allows more words if most letters take three bytes, as in Chinese, because words there are pairs of letters.
  const maxWords = new TextEncoder().encode(folded).length > 2 * [...folded].length ? 12 : 6;
  return wordsOf(folded)
    .slice(0, maxWords)
    .map((word, place, all) => findWord(index, word, place, all));
}

function findWord(index: Index<Sound>, typed: string, place: number, all: string[]): SearchedWord {
  const word: SearchedWord = {
    typed,
    joined: joinedWords(all.slice(Math.max(place - 1, 0), place + 2)),
    isLast: place === all.length - 1,
    count: 0,
    inDescriptionsOnly: false,
  };
  const found = lookUp(index, word, typed);
  const withoutE = typed.replace(/([aou])e/g, '$1'); // ü is also written ue
  return found.spelled ? found : lookUp(index, word, withoutE);
}

/**
 * Looks up a spelling of a word in the catalogue. Words that begin with it count only if it is the last word, if no
 * sound or category has the word itself, or if it may be a pair of letters.
 */
function lookUp(index: Index<Sound>, word: SearchedWord, spelled: string): SearchedWord {
  const { vocabulary, allWords } = index;
  const whole = [spelled, `+${spelled}`, ...word.joined];
  const known = whole.flatMap((form) => vocabulary.get(form) ?? []);
  const isWhole = whole.some((form) => allWords.has(form));
  const mayBegin = word.isLast || !isWhole || mayBePair(spelled);
  const longer = mayBegin ? [...vocabulary].filter(([other]) => other !== spelled && other.startsWith(spelled)) : [];
  const isBeginning = mayBegin && beginsIn(allWords, spelled);
  if (!isWhole && !isBeginning) return word;
  const counted = known.length > 0 ? known : longer.map(([, one]) => one);
  return {
    ...word,
    spelled,
    isWhole,
    isBeginning,
    slugs: slugsNamed(index, (words) => whole.some((form) => words.has(form))),
    slugsBeginning: slugsNamed(index, (words) => beginsIn(words, spelled)),
    count: Math.max(0, ...counted.map(({ count }) => count)),
    inDescriptionsOnly: counted.length > 0 && counted.every(({ inDescriptionsOnly }) => inDescriptionsOnly),
  };
}

/** Returns the categories with words in their names, and their children. None if more than 20 have them. */
function slugsNamed({ named }: Index<Sound>, matches: (words: Words) => boolean): Set<string> {
  const found = named.filter(({ words }) => matches(words)).map(({ category }) => category.id);
  if (found.length > maxCategories) return new Set();
  const family = named.filter(
    ({ category: { id, parent_id } }) => found.includes(id) || found.includes(parent_id ?? ''),
  );
  return new Set(family.map(({ category }) => category.slug));
}
