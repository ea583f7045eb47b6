import { isUtf8 } from 'node:buffer';
import type { IAudioMetadata } from 'music-metadata';
import { oneLine, withoutControls } from '../shared/text.ts';

/** Reads the first title and the first comment of a recording. Those that are missing are empty. */
export function readTags(metadata: IAudioMetadata) {
  const title = oneLine(firstOf(titleIn(metadata)));
  const description = withoutControls(firstOf(commentIn(metadata)));
  const notes = [title, description]
    .filter(isGarbled)
    .map((text) => `The tags say "${text.slice(0, 60)}", which looks garbled. Correct it there or in sounds.csv.`);
  return { title, description, notes };
}

/** Finds the first title in the kind of tags that the parser prefers, because the parser itself keeps the last one. */
function titleIn({ common, native }: IAudioMetadata): string | undefined {
  for (const tags of Object.values(native)) {
    const last = tags.find(({ value }) => value === common.title);
    const first = last && tags.find(({ id }) => id === last.id);
    if (typeof first?.value === 'string') return first.value;
  }
  return common.title;
}

/** Finds the first comment without a descriptor, which is for people, else the comment that ffmpeg writes into MP3. */
function commentIn({ common, native }: IAudioMetadata): string | undefined {
  const comment = common.comment?.find(({ text, descriptor }) => text && !descriptor)?.text;
  const tag = Object.values(native)
    .flat()
    .find(({ id }) => id === 'TXXX:comment');
  return comment ?? (typeof tag?.value === 'string' ? tag.value : undefined);
}

/** Returns the first of several values separated by NUL. Reads control characters of Latin-1 as Windows-1252. */
function firstOf(text = ''): string {
  const [first = ''] = text.split('\0').filter((value) => value.trim() !== '');
  return first.replace(/[\x80-\x9f]/g, (character) => windows1252.decode(Buffer.from(character, 'latin1')));
}

const windows1252 = new TextDecoder('windows-1252');
/** Bytes that are characters in Windows-1252 and control characters in Latin-1. */
const bytesOf1252 = new Map(
  Array.from({ length: 32 }, (_, index) => [windows1252.decode(Uint8Array.of(128 + index)), 128 + index]),
);

/** Tells whether a text seems to be decoded from the wrong character set, or has lost characters. */
function isGarbled(text: string): boolean {
  if (text.includes('\ufffd')) return true;
  const bytes = Array.from(text, (character) => bytesOf1252.get(character) ?? character.codePointAt(0) ?? 0);
  if (bytes.some((byte) => byte > 255)) return false;
  const high = bytes.filter((byte) => byte >= 128).length;
  if (high >= 2 && isUtf8(Uint8Array.from(bytes))) return true;
  const letters = bytes.filter((byte) => byte > 32).length;
  return high >= 4 && high > letters / 2;
}
