import type { ByteReader } from './byte-reader.ts';

// Measures recordings in containers by their data, because their headers may be wrong.

interface OggStream {
  rate: number;
  /** Number of samples at the start that a player skips. */
  preSkip: number;
  samples: number;
}

/** Reads the identification header of Vorbis, Opus, FLAC or Speex in the first page of a stream. */
function oggStream(packet: Buffer): OggStream | undefined {
  const is = (text: string) => packet.toString('latin1', 0, text.length) === text;
  if (is('OpusHead')) return { rate: 48_000, preSkip: packet.readUInt16LE(10), samples: 0 };
  if (is('\x01vorbis')) return { rate: packet.readUInt32LE(12), preSkip: 0, samples: 0 };
  if (is('\x7fFLAC')) return { rate: packet.readUIntBE(27, 3) >> 4, preSkip: 0, samples: 0 };
  if (is('Speex   ')) return { rate: packet.readUInt32LE(36), preSkip: 0, samples: 0 };
  return undefined;
}

/** Sums the lengths of all consecutive Ogg streams, as players do. */
export function oggSeconds(reader: ByteReader): number {
  const streams: OggStream[] = [];
  const bySerial = new Map<number, OggStream>();
  for (let offset = 0; offset < reader.size; ) {
    const page = reader.read(offset, 27 + 255 + 64);
    if (page.length < 28 || page.toString('latin1', 0, 4) !== 'OggS') {
      offset = reader.find('OggS', offset + 1);
      continue;
    }
    const segments = page[26] ?? 0;
    const isFirst = ((page[5] ?? 0) & 2) !== 0;
    const serial = page.readUInt32LE(14);
    const started = isFirst ? oggStream(page.subarray(27 + segments)) : undefined;
    if (started) {
      streams.push(started);
      bySerial.set(serial, started);
    }
    const stream = bySerial.get(serial);
    const position = page.readBigInt64LE(6);
    const bytes = page.subarray(27, 27 + segments).reduce((sum, length) => sum + length, 27 + segments);
    if (stream && position > 0n && offset + bytes <= reader.size) stream.samples = Number(position);
    offset += bytes;
  }
  return streams.reduce((sum, { rate, preSkip, samples }) => sum + Math.max(samples - preSkip, 0) / rate, 0);
}

const EBML = 0x1a45dfa3;
const TIME_SCALE = 0x2ad7b1;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** Elements that contain others: Segment, Info, Cluster, BlockGroup. */
const PARENTS = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0]);

/** Reads a number whose first bits encode its length. @param keepMarker keeps these bits, as in ids of elements */
function vint(bytes: Buffer, at: number, keepMarker: boolean): { value: number; length: number } {
  const length = Math.clz32((bytes[at] ?? 0) << 24) + 1;
  let value = (bytes[at] ?? 0) & (keepMarker ? 0xff : 0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[at + index] ?? 0);
  return { value, length };
}

/** Measures Matroska and WebM by the time of the last block in the first of several joined files. */
export function webmLength(reader: ByteReader): { seconds: number; bytes: number } {
  let [scale, cluster, last, step, bytes] = [1_000_000, 0, 0, 0, reader.size];
  for (let offset = 0; offset < bytes; ) {
    const head = reader.read(offset, 24);
    const id = vint(head, 0, true);
    const size = vint(head, id.length, false);
    const content = id.length + size.length;
    if (id.length > 4 || size.length > 8) break;
    if (id.value === EBML && offset > 0) bytes = offset;
    const number = () => head.readUIntBE(content, Math.min(size.value, 6));
    if (id.value === TIME_SCALE) scale = number();
    if (id.value === CLUSTER_TIME) cluster = number();
    if ((id.value === SIMPLE_BLOCK || id.value === BLOCK) && offset + content + size.value <= reader.size) {
      const track = vint(head, content, false).length;
      const time = cluster + head.readInt16BE(content + track);
      if (time > last) [last, step] = [time, time - last];
    }
    offset += content + (PARENTS.has(id.value) ? 0 : size.value);
  }
  return { seconds: ((last + step) * scale) / 1e9, bytes };
}

/** Returns the end of the first of several joined MP4 files, which is the second `ftyp`. */
export function endOfMp4(reader: ByteReader): number {
  for (let offset = 0; offset < reader.size; ) {
    const head = reader.read(offset, 16);
    if (head.length < 8) break;
    if (offset > 0 && head.toString('latin1', 4, 8) === 'ftyp') return offset;
    const size = head.readUInt32BE(0);
    const bytes = size === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : size;
    if (bytes < 8) break;
    offset += bytes;
  }
  return reader.size;
}

/** Format tags of integers, floats and their extensible form. Other WAV files are compressed. */
const PCM = new Set([1, 3, 0xfffe]);

/** Measures WAV by the bytes after its header, because the header is wrong if the file was cut or streamed. */
export function wavLength(reader: ByteReader): { seconds?: number; bytes: number } {
  const declared = 8 + reader.read(4, 4).readUInt32LE(0);
  const isJoined = reader.read(declared, 4).toString('latin1') === 'RIFF';
  const bytes = isJoined ? declared : reader.size;
  let bytesPerSecond = 0;
  for (let offset = 12; offset < bytes; ) {
    const head = reader.read(offset, 24);
    if (head.length < 8) break;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (name === 'fmt ' && head.length === 24 && PCM.has(head.readUInt16LE(8))) bytesPerSecond = head.readUInt32LE(16);
    if (name === 'data' && bytesPerSecond > 0)
      return { seconds: Math.min(size || bytes, bytes - offset - 8) / bytesPerSecond, bytes };
    offset += 8 + size + (size % 2);
  }
  return { bytes };
}
