import { mp3Frame } from './folder.ts';

// Recordings made by hand, with tags that no encoder writes.

/** An MP3 of about 0.5 s whose ID3v2.4 tags hold these frames; the first byte of a text is its encoding. */
export function mp3With(frames: [id: string, content: Buffer][], frame = mp3Frame): Buffer {
  const body = Buffer.concat(
    frames.flatMap(([id, content]) => [Buffer.from(id), syncSafe(content.length), Buffer.alloc(2), content]),
  );
  const header = Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), syncSafe(body.length)]);
  // Sounds are known by their content, so that each file needs bytes of its own.
  const unique = Buffer.concat([frame.subarray(0, 100), crypto.getRandomValues(Buffer.alloc(16))]);
  return Buffer.concat([header, body, ...Array(20).fill(frame), unique, frame.subarray(116)]);
}

/** A number in four bytes of seven bits. */
const syncSafe = (value: number) => Buffer.from([21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f));

export const latin1 = (text: string) => Buffer.from(`\0${text}`, 'latin1');
export const utf8 = (text: string) => Buffer.from(`\x03${text}`);
export const utf16 = (text: string) =>
  Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')]);

/** Puts two titles into the comments of a FLAC file, behind its first block. */
export function flacWithTitles(flac: Buffer, titles: string[]): Buffer {
  const texts = ['', ...titles.map((title) => `TITLE=${title}`)].map((text) => Buffer.from(text));
  const count = Buffer.alloc(4);
  count.writeUInt32LE(titles.length);
  const [vendor = Buffer.alloc(0), ...comments] = texts.map((text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([length, text]);
  });
  const block = Buffer.concat([vendor, count, ...comments]);
  const header = Buffer.alloc(4);
  header.writeUInt32BE((4 << 24) | block.length);
  return Buffer.concat([flac.subarray(0, 42), header, block, flac.subarray(42)]);
}
