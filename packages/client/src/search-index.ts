import type { Schema } from './schema.ts';
import { fold, joinedWords, wordsOf } from './search-words.ts';

export type Sound = Schema<'CopiedSound'>;
export type Category = Schema<'CopiedCategory'>;

/** Words of a text. Two neighbours are also joined to one word, which begins with "+". */
export type Words = ReadonlySet<string>;

export interface Entry<Item> {
  sound: Item;
  /** Folded title. */
  text: string;
  title: Words;
  /** Words of the title and the tags. */
  labels: Words;
  /** Words of title, tags and description. */
  all: Words;
}

/** Facts about a word of the catalogue. */
interface Known {
  /** Number of sounds and categories that have it. */
  count: number;
  inDescriptionsOnly: boolean;
}

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

export const beginsIn = (words: Words, beginning: string) => [...words].some((word) => word.startsWith(beginning));

/** Returns the words of the catalogue, without joined ones. */
function vocabularyOf(entries: Entry<Sound>[], names: Words[]): Map<string, Known> {
  const vocabulary = new Map<string, Known>();
  const add = (word: string, inDescriptionsOnly: boolean) => {
    if (word.startsWith('+')) return;
    const known = vocabulary.get(word) ?? { count: 0, inDescriptionsOnly: true };
    known.count += 1;
    known.inDescriptionsOnly &&= inDescriptionsOnly;
    vocabulary.set(word, known);
  };
  for (const { all, labels } of entries) for (const word of all) add(word, !labels.has(word));
  for (const words of names) for (const word of words) add(word, false);
  return vocabulary;
}

/** The words of a copy of the catalogue, and the sounds and categories with them. */
export type Index<Item extends Sound> = ReturnType<typeof createIndex<Item>>;

/** Collects the words of a copy. @param sounds in list order @param categories the visible ones */
export function createIndex<Item extends Sound>(sounds: Item[], categories: Category[]) {
  const entries = sounds.map(entryOf);
  const byTitle = [...entries].sort((a, b) => +(a.text > b.text) - +(a.text < b.text));
  const named = categories.map((category) => ({ category, words: namesOf(category) }));
  const names = named.map(({ words }) => words);
  const vocabulary = vocabularyOf(entries, names);
  const allWords: Words = new Set([...entries.map(({ all }) => all), ...names].flatMap((set) => [...set]));
  return { entries, byTitle, named, vocabulary, allWords };
}
