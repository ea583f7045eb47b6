// Words of texts, as searches compare them. supabase/schemas/12_search_words.sql does the same.

/** Hebrew points, Arabic vowel marks and tatweel, nukta. */
const marks =
  /[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0640\u064B-\u065F\u0670\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0CBC]/g;

/** Tones before vowels, which keyboards of Thai and Lao allow. */
const tonesFirst = /([\u0E48-\u0E4B\u0EC8-\u0ECB]+)([\u0E31\u0E34-\u0E3A\u0E47\u0E4D\u0EB1\u0EB4-\u0EBC\u0ECD]+)/g;

/** Nasals before consonants in Devanagari. */
const nasals = /[ङञणनम]्(?=[क-म])/g;

/**
 * Letters that are written in several ways, or that Unicode does not decompose, each followed by its replacement: forms
 * of alef, yeh, kaf, teh marbuta, candrabindu, signs of music, and Latin letters.
 */
const variants =
  '\u0622\u0627 \u0623\u0627 \u0625\u0627 \u0671\u0627 \u0649\u064A \u06CC\u064A \u06A9\u0643 ' +
  '\u0629\u0647 \u0901\u0902 ♯# ♭b ßss æae œoe øo đd łl ıi';
const replacements = new Map(variants.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)]));
const variant = new RegExp(`[${[...replacements.keys()].join('')}]`, 'g');

const accents = /[\u0300-\u036F]/g;

/** Zeros of scripts. Their other digits follow in Unicode. */
const zeros = [...'٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀០᠐'];

function asciiDigit(digit: string): string {
  const values = zeros.map((zero) => digit.charCodeAt(0) - zero.charCodeAt(0));
  return String(values.find((value) => value >= 0 && value < 10) ?? digit);
}

const foldLetters = (text: string) =>
  text
    .normalize('NFKC')
    .replace(marks, '')
    .replace(tonesFirst, '$2$1')
    .replace(nasals, 'ं')
    .replace(/\p{Nd}/gu, asciiDigit)
    .normalize('NFD')
    .replace(accents, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(variant, (letter) => replacements.get(letter) ?? letter);

const isAscii = (text: string) => /^[ -~]*$/.test(text);

/** Places between digits and letters, and white space. */
const gaps =
  /(\d)(?=[a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC])|([a-z\u00C0-\u1FFF\u2C00-\u2FEF\u3040-\uFFDC])(?=\d)|\s+/g;

/** Removes capitals, accents, repeated spaces and other differences of spelling: "432Hz" becomes "432 hz". */
export const fold = (text: string): string =>
  (isAscii(text) ? text.toLowerCase() : foldLetters(text)).replace(gaps, '$1$2 ');

/** Runs of scripts without spaces, and of Hangul, whose particles join words. */
const unspaced =
  /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u3007\u3040-\u30FA\u30FC-\u31FF\u3400-\u9FFF\uAC00-\uD7AF\u{20000}-\u{3FFFF}]+/gu;

function pairsOf(run: string): string {
  const letters = [...run];
  const pairs = letters.slice(1).map((letter, n) => letters[n] + letter);
  return ` ${pairs.join(' ') || run} `;
}

const article = /(^|[^\u0621-\u06D3])\u0627\u0644(?=[\u0621-\u06D3]{2})/g;

const separators =
  /[\s!-/:-@[-`{-\u00BF\u05BE\u060C\u061B\u061F\u06D4\u0964\u0965\u2000-\u206F\u3000-\u3004\u3008-\u303F\u30FB]+/;

const maxLetters = 50;

const cut = (word: string) => [...word].slice(0, maxLetters).join('');

/**
 * Splits a text into folded words of at most 50 letters, and scripts without spaces into pairs of letters. Leaves out
 * the Arabic article.
 */
export const wordsOf = (text: string): string[] =>
  fold(text).replace(unspaced, pairsOf).replace(article, '$1').split(separators).filter(Boolean).map(cut);

/**
 * Tells whether a word begins at U+0E00 or later, as all pairs of letters do. Some other words do, too, such as emoji
 * and Georgian ones.
 */
export const mayBePair = (word: string): boolean => word.charCodeAt(0) >= 0xe00;

/** Joins each word with the next one, because "lo-fi" and "lo fi" are also written "lofi". */
export function joinedWords(words: string[]): string[] {
  const pairs = words.slice(1).map((next, n) => [words[n] ?? '', next]);
  return pairs.filter((pair) => !pair.some(mayBePair)).map((pair) => cut(pair.join('')));
}
