import type { ByteReader } from './byte-reader.ts';

// Measures MP3, AAC and FLAC by their frames, because headers are wrong in files that were cut or joined.

const BITRATES_V1 = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
];
const BITRATES_V2 = [
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const AAC_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350];

interface Frame {
  bytes: number;
  samples: number;
  rate: number;
  /** Equal for all frames of one stream. */
  kind: string;
}

/** Reads the header of a frame of AAC in ADTS, or of MPEG audio of any version and layer. */
function frameAt(head: Buffer): Frame | undefined {
  const [sync = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = head;
  if (head.length < 7 || sync !== 0xff || second < 0xe0) return undefined;
  if ((second & 0xf6) === 0xf0) {
    const rate = AAC_RATES[(third >> 2) & 15];
    const bytes = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
    if (!rate || bytes < 8) return undefined;
    return { bytes, samples: 1024 * ((seventh & 3) + 1), rate, kind: `AAC ${rate}` };
  }
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const kbps = (version === 3 ? BITRATES_V1 : BITRATES_V2)[layer - 1]?.[third >> 4];
  const rate = [44100, 48000, 32000][(third >> 2) & 3];
  if (version === 1 || !kbps || !rate) return undefined;
  const perSecond = rate / ([4, 1, 2, 1][version] ?? 1);
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const padding = (third >> 1) & 1;
  const bytes =
    layer === 1
      ? (Math.floor((12_000 * kbps) / perSecond) + padding) * 4
      : Math.floor((samples * 125 * kbps) / perSecond) + padding;
  return { bytes, samples, rate: perSecond, kind: `${version} ${layer} ${perSecond}` };
}

/** Returns the size of the ID3v2, ID3v1, APE or Lyrics3 tag at an offset; 0 if there is none. */
export function tagBytes(reader: ByteReader, offset: number): number {
  const head = reader.read(offset, 32);
  const text = head.toString('latin1');
  if (text.startsWith('ID3') && head.length >= 10)
    return 10 + ((head[5] ?? 0) & 0x10 ? 10 : 0) + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head[at] ?? 0), 0);
  if (text.startsWith('TAG')) return 128;
  if (text.startsWith('APETAGEX') && head.length === 32) return 32 + head.readUInt32LE(12);
  if (text.startsWith('LYRICSBEGIN')) return reader.find('LYRICS200', offset) + 9 - offset;
  return 0;
}

/** Returns whether the first frame of a stream describes the others and contains no sound. */
const isDescription = (frame: Buffer) => /^.{4,40}(Xing|Info|VBRI)/s.test(frame.toString('latin1', 0, 44));

/** Sums the lengths of all complete frames of MPEG audio or AAC, also after tags and damaged parts. */
export function mpegSeconds(reader: ByteReader): number {
  let [offset, seconds, isInStream] = [0, 0, false];
  while (offset < reader.size) {
    const tag = tagBytes(reader, offset);
    const frame = tag > 0 ? undefined : frameAt(reader.read(offset, 7));
    if (tag > 0) offset += tag;
    else if (frame && (isInStream || isFollowed(reader, offset, frame))) {
      const end = offset + frame.bytes;
      if (end <= reader.size && !isDescription(reader.read(offset, 44))) seconds += frame.samples / frame.rate;
      offset = end;
    } else offset = reader.find(0xff, offset + 1);
    isInStream = frame !== undefined && frameAt(reader.read(offset, 7))?.kind === frame.kind;
  }
  return seconds;
}

/** Returns whether a frame of the same kind, a tag or the end of the file follows, which makes a frame genuine. */
function isFollowed(reader: ByteReader, offset: number, { bytes, kind }: Frame): boolean {
  const end = offset + bytes;
  return end === reader.size || frameAt(reader.read(end, 7))?.kind === kind || tagBytes(reader, end) > 0;
}

/** Measures FLAC by the last frame that has a valid checksum and a header like the first frame. */
export function flacSeconds(reader: ByteReader, start: number, end: number): number | undefined {
  const info = reader.read(start + 8, 34);
  if (info.length < 34) return undefined;
  const rate = info.readUIntBE(10, 3) >> 4;
  const blockSize = info.readUInt16BE(2);
  let offset = start + 4;
  for (let isLast = false; !isLast && offset < end; ) {
    const block = reader.read(offset, 4);
    isLast = (block[0] ?? 0x80) >= 0x80;
    offset += 4 + (block.length === 4 ? block.readUIntBE(1, 3) : 0);
  }
  const first = Buffer.from(reader.read(offset, 4));
  let samples = 0;
  for (; offset < end; offset = reader.find(0xff, offset + 1)) {
    samples = endOfFlacFrame(reader.read(offset, 16), first, blockSize) ?? samples;
  }
  return rate > 0 && samples > 0 ? samples / rate : undefined;
}

/** @returns the number of samples up to the end of the frame */
function endOfFlacFrame(head: Buffer, first: Buffer, maxBlock: number): number | undefined {
  const [sync = 0, second = 0, third = 0, fourth = 0] = head;
  const isAlike = second === first[1] && fourth === first[3] && ((third ^ (first[2] ?? 0)) & 15) === 0;
  if (head.length < 16 || sync !== 0xff || (second & 0xfe) !== 0xf8 || !isAlike) return undefined;
  // The number is encoded as UTF-8 encodes a character, in up to seven bytes.
  const length = Math.max(Math.clz32(~((head[4] ?? 0) << 24)), 1);
  let number = (head[4] ?? 0) & (0x7f >> (length === 1 ? 0 : length));
  for (let at = 5; at < 4 + length; at++) number = number * 64 + ((head[at] ?? 0) & 0x3f);
  let at = 4 + length;
  const code = third >> 4;
  let block = code === 1 ? 192 : code < 6 ? 576 << (code - 2) : 256 << (code - 8);
  if (code === 6) block = head.readUInt8(at++) + 1;
  if (code === 7) {
    block = head.readUInt16BE(at) + 1;
    at += 2;
  }
  at += ({ 12: 1, 13: 2, 14: 2 } as Record<number, number>)[third & 15] ?? 0;
  if (crc8(head.subarray(0, at)) !== head[at]) return undefined;
  return (second & 1 ? number : number * maxBlock) + block;
}

/** Computes the checksum of a FLAC header (polynomial 0x07). */
function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1;
  }
  return crc;
}
