import { open } from 'node:fs/promises';
import { type IAudioMetadata, type IOptions, parseBuffer, parseFile } from 'music-metadata';

/**
 * Parses a recording, and the ID3v2.4 tag at its end, which the library does not look for. Tags at the start win.
 * @throws errors of the parser and of the file system
 */
export async function parseRecording(source: string, options?: IOptions): Promise<IAudioMetadata> {
  const metadata = await parseFile(source, options);
  const tag = await appendedTag(source);
  if (!tag) return metadata;
  const { common, native } = await parseBuffer(tag, { mimeType: 'audio/mpeg' });
  return { ...metadata, common: { ...common, ...metadata.common }, native: { ...native, ...metadata.native } };
}

/** Size in bytes of an ID3v1 tag, which may follow. */
const id3v1Size = 128;
/** Size in bytes of the header and of the footer of an ID3v2.4 tag. */
const edgeSize = 10;

/** Reads the ID3v2.4 tag at the end of a file, by its footer (ID3 tag version 2.4.0, 3.4). */
async function appendedTag(source: string): Promise<Buffer | undefined> {
  const file = await open(source);
  try {
    const { size } = await file.stat();
    const readAt = async (start: number, length: number) =>
      (await file.read(Buffer.alloc(length), 0, length, start)).buffer;
    for (const end of [size, size - id3v1Size]) {
      const footer = end > edgeSize ? await readAt(end - edgeSize, edgeSize) : Buffer.alloc(edgeSize);
      const length = footer.subarray(6).reduce((sum, byte) => 128 * sum + byte, 0) + 2 * edgeSize;
      if (footer.toString('latin1', 0, 4) === '3DI\x04' && length <= end) return await readAt(end - length, length);
    }
    return undefined;
  } finally {
    await file.close();
  }
}
