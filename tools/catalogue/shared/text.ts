/** Formats bytes as the dashboard does, where 50 MB are 52,428,800 bytes. */
export const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** Returns the only name, or a text about many. */
export const oneOrMany = (names: string[], many: string) => (names.length === 1 ? (names[0] ?? '') : many);

export const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Control characters, line separators, and characters that reverse the direction of the text after them. */
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Escapes control characters, so that file names and tags cannot change the terminal or the lines of a report. */
export const printable = (text: string) =>
  text.replace(controls, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);

/** Replaces control characters by spaces and normalizes to NFC, for titles and names. */
export const oneLine = (text: string) => text.normalize('NFC').replace(controls, ' ').replace(/ {2,}/g, ' ').trim();

/** Removes control characters other than line breaks and tabs, for longer texts. */
export const withoutControls = (text: string) =>
  text
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(controls, (character) => (/[\n\t]/.test(character) ? character : ''))
    .trim();
