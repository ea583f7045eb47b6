import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

/** Returns a picture with unique bytes after its end, which readers ignore. */
export async function picture(format: 'jpeg' | 'png' | 'webp' = 'jpeg'): Promise<Buffer> {
  const create = { width: 16, height: 16, channels: 3, background: 'teal' } as const;
  const image = await sharp({ create }).toFormat(format).toBuffer();
  return Buffer.concat([image, crypto.getRandomValues(new Uint8Array(16))]);
}

// Builds recordings with tags that no encoder writes.

// A frame of 128 kbit/s at 44.1 kHz.
const mp3Frame = Buffer.alloc(417);
mp3Frame.writeUInt32BE(0xfffb9000);

/** Returns an MP3 of about 0.5 s with these ID3v2.4 frames. The first byte of a text frame is its encoding. */
export function mp3With(
  frames: [id: string, content: Buffer][],
  sound: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Buffer {
  const body = Buffer.concat(
    frames.flatMap(([id, content]) => [Buffer.from(id), syncSafe(content.length), Buffer.alloc(2), content]),
  );
  const header = Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), syncSafe(body.length)]);
  // An import recognizes recordings by their content, so each file needs unique bytes.
  const unique = Buffer.concat([mp3Frame.subarray(0, 100), sound]);
  return Buffer.concat([header, body, ...Array(20).fill(mp3Frame), unique, mp3Frame.subarray(116)]);
}

/** Returns an MP3 with these ID3v2.4 frames in a tag at its end, before an ID3v1 tag. */
export function mp3Ending(frames: [id: string, content: Buffer][]): Buffer {
  const [tagged, plain] = [mp3With(frames), mp3With([])];
  const tag = tagged.subarray(0, tagged.length - plain.length + 10);
  tag.writeUInt8(0x10, 5); // has a footer
  const footer = Buffer.concat([Buffer.from('3DI'), tag.subarray(3, 10)]);
  return Buffer.concat([plain.subarray(10), tag, footer, Buffer.from('TAG'.padEnd(128, '\0'))]);
}

/** Encodes a number in four bytes of seven bits. */
const syncSafe = (value: number) => Buffer.from([21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f));

export const latin1 = (text: string) => Buffer.from(`\0${text}`, 'latin1');
export const utf8 = (text: string) => Buffer.from(`\x03${text}`);
export const utf16 = (text: string) => Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')]);

export const titled = (title: string) => mp3With([['TIT2', utf8(title)]]);

const melody = crypto.getRandomValues(new Uint8Array(16));
/** Returns an MP3 whose audio is the same for all titles. */
export const song = (title: string) => mp3With([['TIT2', utf8(title)]], melody);

/**
 * Makes recordings of a tone of 4 s in one run of ffmpeg, for a test with the tag `ffmpeg`.
 * @param outputs options of ffmpeg by the name of the file
 * @param inputs further inputs, from 1
 * @returns a function that reads a file
 */
export function encode(folder: string, outputs: Record<string, string>, ...inputs: string[]) {
  const sources = ['sine=330:d=4', ...inputs].flatMap((input) => ['-f', 'lavfi', '-i', input]);
  const files = Object.entries(outputs).map(
    ([name, options]) => `${options.includes('-map') ? '' : '-map 0'} ${options} ${name}`,
  );
  const args = ['-loglevel', 'error', ...sources, ...files.join(' ').split(' ').filter(Boolean)];
  const { status, stderr } = spawnSync('ffmpeg', args, { cwd: folder });
  if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
  return (name: string) => readFileSync(join(folder, name));
}
