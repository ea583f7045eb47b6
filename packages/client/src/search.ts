import type { Schema } from './schema.ts';
import { correctionOf } from './search-corrections.ts';
import { fold, isPair, joinedWords, wordsOf } from './search-words.ts';

// Searches the copy of the catalogue. supabase/schemas/53_search.sql does the same in the service.

type Sound = Schema<'CopiedSound'>;
type Category = Schema<'CopiedCategory'>;

/** Result of a search. */
export interface Found<Item> {
  /** The found sounds, best first. */
  data: Item[];
  /** The text with corrected words, if these are sounds for it. */
  corrected_q?: string;
}

/** Words of a text, and with "+" before them two joined ones. */
type Words = ReadonlySet<string>;

interface Entry<Item> {
  sound: Item;
  /** Folded title. */
  text: string;
  title: Words;
  /** Words of the title and the tags. */
  labels: Words;
  /** Words of title, tags and description. */
  all: Words;
}

/** Parts of a sound in the order of their importance. */
const parts = ['title', 'labels', 'all'] as const;
type Part = (typeof parts)[number];

/** Facts about a word of the catalogue. */
interface Known {
  /** Number of sounds and categories that have it. */
  count: number;
  inDescriptionsOnly: boolean;
}

/** A word of a search. */
interface SearchedWord {
  typed: string;
  /** Spelling in the sounds. Undefined if no sound has the word. */
  spelled?: string;
  /** With its neighbours, because "lo fi" is also written "lofi". */
  joined: string[];
  isLast: boolean;
  isWhole: boolean;
  isBeginning: boolean;
  slugs: ReadonlySet<string>;
  slugsBeginning: ReadonlySet<string>;
  share: number;
  inDescriptionsOnly: boolean;
}

/** Length from which text inside of words of titles counts. */
const minLettersInside = 4;
const maxCategories = 20;
const maxCorrections = 3;
const maxTitleLetters = 400;

const withJoined = (words: string[]) => [...words, ...joinedWords(words).map((word) => `+${word}`)];

function entryOf<Item extends Sound>(sound: Item): Entry<Item> {
  const title = withJoined(wordsOf(sound.title));
  const labels = [...title, ...withJoined(wordsOf((sound.tags ?? []).join(' ')))];
  const all = [...labels, ...withJoined(wordsOf(sound.description ?? ''))];
  const text = fold(sound.title).slice(0, maxTitleLetters);
  return { sound, text, title: new Set(title), labels: new Set(labels), all: new Set(all) };
}

const namesOf = ({ name, slug }: Category) => new Set(withJoined(wordsOf(`${name} ${slug}`)));

const beginsIn = (words: Words, beginning: string) => [...words].some((word) => word.startsWith(beginning));

/** Returns the words of the catalogue, without numbers and joined ones. */
function vocabularyOf(entries: Entry<Sound>[], names: Words[]): Map<string, Known> {
  const vocabulary = new Map<string, Known>();
  const add = (word: string, inDescriptionsOnly: boolean) => {
    if (/^[0-9+]/.test(word)) return;
    const known = vocabulary.get(word) ?? { count: 0, inDescriptionsOnly: true };
    known.count += 1;
    known.inDescriptionsOnly &&= inDescriptionsOnly;
    vocabulary.set(word, known);
  };
  for (const { all, labels } of entries) for (const word of all) add(word, !labels.has(word));
  for (const words of names) for (const word of words) add(word, false);
  return vocabulary;
}

/** Returns a text with words replaced. */
function replaceWords(text: string, corrections: ReadonlyMap<string, string>): string {
  const replaced = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const typed = wordsOf(part);
      if (!typed.some((word) => corrections.has(word))) return part;
      return typed.map((word) => corrections.get(word) ?? word).join(' ');
    });
  return replaced.join(' ');
}

/**
 * Prepares the search of a copy, which finds and orders sounds like the parameter `q` of GET /sounds.
 * @param sounds in list order
 * @param categories the visible ones
 */
export function createSearch<Item extends Sound>(sounds: Item[], categories: Category[]) {
  const entries = sounds.map(entryOf);
  const byTitle = [...entries].sort((a, b) => Number(a.text > b.text) - Number(a.text < b.text));
  const named = categories.map((category) => ({ category, words: namesOf(category) }));
  const vocabulary = vocabularyOf(
    entries,
    named.map(({ words }) => words),
  );
  const allWords = new Set(
    [...entries.map(({ all }) => all), ...named.map(({ words }) => words)].flatMap((set) => [...set]),
  );

  /** Returns the categories with words in their names, and their children. None if more than 20 have them. */
  function slugsNamed(matches: (words: Words) => boolean): Set<string> {
    const found = named.filter(({ words }) => matches(words)).map(({ category }) => category.id);
    if (found.length > maxCategories) return new Set();
    const family = categories.filter(({ id, parent_id }) => found.includes(id) || found.includes(parent_id ?? ''));
    return new Set(family.map(({ slug }) => slug));
  }

  /**
   * Adds to a word what the catalogue has in a spelling of it. A beginning counts for the last word, and for others only
   * where the word itself is nowhere.
   */
  function lookUp(word: SearchedWord, spelled: string): SearchedWord {
    const whole = [spelled, `+${spelled}`, ...word.joined];
    const known = whole.flatMap((form) => vocabulary.get(form) ?? []);
    const isWhole = whole.some((form) => allWords.has(form));
    const mayBegin = word.isLast || !isWhole || isPair(spelled);
    const longer = mayBegin ? [...vocabulary].filter(([other]) => other !== spelled && other.startsWith(spelled)) : [];
    const isBeginning = mayBegin && beginsIn(allWords, spelled);
    if (!isWhole && !isBeginning) return word;
    const counted = known.length > 0 ? known : longer.map(([, one]) => one);
    return {
      ...word,
      spelled,
      isWhole,
      isBeginning,
      slugs: slugsNamed((words) => whole.some((form) => words.has(form))),
      slugsBeginning: isBeginning ? slugsNamed((words) => beginsIn(words, spelled)) : new Set(),
      share: Math.max(0, ...counted.map(({ count }) => count)) / Math.max(entries.length, 1),
      inDescriptionsOnly: counted.length > 0 && counted.every(({ inDescriptionsOnly }) => inDescriptionsOnly),
    };
  }

  function findWord(typed: string, place: number, all: string[]): SearchedWord {
    const word: SearchedWord = {
      typed,
      joined: [
        ...joinedWords(all.slice(Math.max(place - 1, 0), place + 1)),
        ...joinedWords(all.slice(place, place + 2)),
      ],
      isLast: place === all.length - 1,
      isWhole: false,
      isBeginning: false,
      slugs: new Set(),
      slugsBeginning: new Set(),
      share: 0,
      inDescriptionsOnly: false,
    };
    const found = lookUp(word, typed);
    const withoutE = typed.replace(/([aou])e/g, '$1'); // ü is also written ue
    return found.spelled === undefined && withoutE !== typed ? lookUp(word, withoutE) : found;
  }

  /** Returns a text, in which the most similar words replace the three longest ones that no sound has. */
  function correctedText(text: string, words: SearchedWord[]): string {
    const misspelt = words.filter(({ spelled }) => spelled === undefined).map(({ typed }) => typed);
    const longest = misspelt.sort((a, b) => b.length - a.length).slice(0, maxCorrections);
    const known = [...vocabulary].filter(([, { inDescriptionsOnly }]) => !inDescriptionsOnly);
    const candidates = known.map(([word, { count }]) => ({ word, count }));
    const corrections = longest.flatMap((typed) => {
      const correction = correctionOf(typed, candidates);
      return correction === undefined ? [] : ([[typed, correction]] as const);
    });
    return replaceWords(text, new Map(corrections));
  }

  /** Tells whether a part of a sound has a word. */
  function has({ sound, ...words }: Entry<Item>, word: SearchedWord, part: Part, withBeginnings: boolean): boolean {
    const { spelled = '', joined, isWhole, isBeginning, slugs, slugsBeginning } = word;
    const [own, category] = [words[part], sound.category ?? ''];
    if (isWhole && [spelled, `+${spelled}`, ...joined].some((form) => own.has(form))) return true;
    if (part !== 'title' && slugs.has(category)) return true;
    if (!withBeginnings || !isBeginning) return false;
    return beginsIn(own, spelled) || (part !== 'title' && slugsBeginning.has(category));
  }

  /** Returns sounds with all words, best first. Titles that begin with the typed text come before others. */
  function ranked(words: SearchedWord[], typed?: string): Entry<Item>[] {
    if (words.length === 0) return [];
    const found = new Set<Entry<Item>>();
    for (const part of parts) {
      for (const withBeginnings of [false, true]) {
        const matches = (entry: Entry<Item>) => words.every((word) => has(entry, word, part, withBeginnings));
        if (part === 'title' && typed !== undefined)
          for (const entry of byTitle) if (entry.text.startsWith(typed) && matches(entry)) found.add(entry);
        for (const entry of entries) if (!found.has(entry) && matches(entry)) found.add(entry);
      }
    }
    return [...found];
  }

  function asTyped(words: SearchedWord[], typed: string): Entry<Item>[] {
    const isKnown = words.every(({ spelled }) => spelled !== undefined);
    const found = isKnown ? ranked(words, typed) : [];
    const inside = [...typed].length < minLettersInside ? [] : entries.filter(({ text }) => text.includes(typed));
    return [...new Set([...found, ...inside])];
  }

  /** Finds sounds with as many of the rarest words as any sound has, at least half of them. */
  function withMostWords(words: SearchedWord[], corrected: string[]) {
    const known = words
      .filter(({ spelled }) => spelled !== undefined)
      .sort(
        (a, b) =>
          Number(corrected.includes(a.typed)) - Number(corrected.includes(b.typed)) ||
          Number(a.inDescriptionsOnly) - Number(b.inDescriptionsOnly) ||
          a.share - b.share,
      );
    const most = Math.min(known.length, words.length - 1);
    for (let number = most; number >= Math.max(known.length / 2, 1); number--) {
      const kept = known.slice(0, number);
      const found = kept.some(({ share }) => share <= 0.5) ? ranked(kept) : [];
      if (found.length > 0) return { found, kept: kept.map(({ typed }) => typed) };
    }
    return { found: [], kept: [] };
  }

  function findWords(typed: string): SearchedWord[] {
    // Words of scripts without spaces are pairs of letters.
    const maxWords = new TextEncoder().encode(typed).length > 2 * [...typed].length ? 12 : 6;
    return wordsOf(typed).slice(0, maxWords).map(findWord);
  }

  return (searched: string): Found<Item> => {
    const soundsOf = (found: Entry<Item>[]) => found.map(({ sound }) => sound);
    const typed = fold(searched).trim();
    const words = findWords(typed);
    const exact = asTyped(words, typed);
    if (exact.length > 0) return { data: soundsOf(exact) };

    const correctedQ = correctedText(searched, words);
    const spelled = fold(correctedQ).trim();
    const spelledWords = findWords(spelled);
    const similar = asTyped(spelledWords, spelled);
    if (similar.length > 0) return { data: soundsOf(similar), corrected_q: correctedQ };

    const typedWords = wordsOf(typed);
    const corrected = wordsOf(spelled).filter((word) => !typedWords.includes(word));
    const { found, kept } = withMostWords(spelledWords, corrected);
    const isCorrected = kept.some((word) => corrected.includes(word));
    return { data: soundsOf(found), ...(isCorrected && { corrected_q: correctedQ }) };
  };
}
