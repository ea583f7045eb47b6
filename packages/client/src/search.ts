import type { Schema } from './schema.ts';

type Sound = Schema<'CopiedSound'>;
type Category = Schema<'CopiedCategory'>;

/** Runs of scripts without spaces, and of Hangul, whose particles join words. */
const unspaced =
  /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FA\u30FC-\u31FF\u3400-\u9FFF\uAC00-\uD7AF\u{20000}-\u{3FFFF}]+/gu;

const marks =
  /[\u0300-\u036F\u0591-\u05BD\u05BF\u05C1-\u05C7\u0640\u064B-\u065F\u0670\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0CBC]/g;

/** Letters that are written in several ways, or that Unicode does not decompose. */
const sameLetters: Record<string, string> = {
  ...{ '\u0649': '\u064A', '\u06CC': '\u064A', '\u06A9': '\u0643', '\u0671': '\u0627', '\u0901': '\u0902', '♭': 'b' },
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ı: 'i' },
};

/** Zeros of scripts. Their other digits follow in Unicode. */
const zeros = [...'٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀០᠐'];

function asciiDigit(digit: string): string {
  const valueAfter = (zero: string) => digit.charCodeAt(0) - zero.charCodeAt(0);
  const zero = zeros.find((one) => valueAfter(one) >= 0 && valueAfter(one) < 10);
  return zero === undefined ? digit : String(valueAfter(zero));
}

/** Removes differences of spelling, as the service does: case, accents, vowel marks, scripts of digits. */
const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(marks, '')
    .normalize('NFKC')
    .replace(/[\u0649\u06CC\u06A9\u0671\u0901♭ßæœøđłı]/g, (letter) => sameLetters[letter] ?? letter)
    .replace(/[ङञणनम]्(?=[क-म])/g, 'ं')
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/(\d)(?=\p{L})/gu, '$1 ')
    .replace(/(\p{L})(?=\d)/gu, '$1 ');

function pairsOf(run: string): string {
  const letters = [...run];
  const pairs = letters.slice(1).map((letter, n) => letters[n] + letter);
  return ` ${pairs.join(' ') || run} `;
}

/** Splits a text into words, and scripts without spaces into pairs of letters. */
const wordsOf = (text: string): string[] =>
  fold(text)
    .replace(unspaced, pairsOf)
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/** Returns a predicate for a typed word. Long words, the last one and Asian letters match beginnings of words. */
function matcherOf(typed: string, position: number, all: string[]): (words: string[]) => boolean {
  const isBeginning = typed.length > 3 || position === all.length - 1 || typed.charCodeAt(0) >= 0xe00;
  return (words) => words.some((word) => (isBeginning ? word.startsWith(typed) : word === typed));
}

interface Entry {
  sound: Sound;
  /** Folded title. */
  text: string;
  title: string[];
  /** Words of the title, the tags and the names of the category and its parent. */
  labels: string[];
  /** Words of the title, the tags and the description. */
  own: string[];
  all: string[];
}

function entryOf(sound: Sound, categories: Category[]): Entry {
  const filed = categories.find(({ slug }) => slug === sound.category);
  const parent = categories.find(({ id }) => id === filed?.parent_id);
  const names = [filed, parent].flatMap((category) => (category ? [category.name, category.slug] : []));
  const title = wordsOf(sound.title);
  const tags = wordsOf((sound.tags ?? []).join(' '));
  const labels = [...title, ...tags, ...wordsOf(names.join(' '))];
  const described = wordsOf(sound.description ?? '');
  const own = [...title, ...tags, ...described];
  return { sound, text: fold(sound.title), title, labels, own, all: [...labels, ...described] };
}

/**
 * Finds sounds like the parameter `q` of GET /sounds, but does not correct words: titles that begin with the text, then
 * titles with all words, all words anywhere, titles that contain the text. Otherwise finds most words.
 * @param sounds in list order
 */
export function searchSounds(sounds: Sound[], categories: Category[], searched: string): Sound[] {
  const text = fold(searched).trim();
  if (text === '') return [];
  const entries = sounds.map((sound) => entryOf(sound, categories));
  const byTitle = [...entries].sort((a, b) => (a.text < b.text ? -1 : 1));
  const terms = wordsOf(searched).map(matcherOf);
  const withAll = (wanted: typeof terms) => [
    ...entries.filter(({ title }) => wanted.every((matches) => matches(title))),
    ...entries.filter(({ all }) => wanted.every((matches) => matches(all))),
  ];
  const soundsOf = (found: Entry[]) => [...new Set(found.map(({ sound }) => sound))];

  const found = soundsOf([
    ...byTitle.filter((entry) => entry.text.startsWith(text)),
    ...(terms.length > 0 ? withAll(terms) : []),
    ...entries.filter((entry) => entry.text.includes(text)),
  ]);
  if (found.length > 0) return found;

  // Leave out words of descriptions first, then frequent ones, so that the rarest word decides.
  const known = terms
    .filter((matches) => entries.some(({ all }) => matches(all)))
    .map((matches) => ({
      matches,
      isInDescriptionsOnly: !entries.some(({ labels }) => matches(labels)),
      count: entries.filter(({ own }) => matches(own)).length,
    }))
    .sort((a, b) => Number(a.isInDescriptionsOnly) - Number(b.isInDescriptionsOnly) || a.count - b.count)
    .map(({ matches }) => matches);
  while (known.length > 0) {
    const fewer = soundsOf(withAll(known));
    if (fewer.length > 0) return fewer;
    known.pop();
  }
  return [];
}
