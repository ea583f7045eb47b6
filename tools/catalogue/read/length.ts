import { ByteReader } from './byte-reader.ts';
import { endOfMp4, oggSeconds, wavLength, webmLength } from './containers.ts';
import { flacSeconds, mpegSeconds, tagBytes } from './frames.ts';

interface Length {
  /** Measured length; undefined for MP4, which cannot be played without a valid header. */
  seconds?: number;
  /** Size of the first recording. Smaller than the file if several recordings were joined. */
  bytes: number;
}

/** Signature of FLAC with the header of its first block. */
const FLAC = 'fLaC\0\0\0\x22';

/** Measures a recording by its data, because its header is wrong if the file was cut or joined. */
export function measure(source: string): Length {
  const reader = new ByteReader(source);
  try {
    return lengthOf(reader);
  } catch (error) {
    // The file ends before a number that should be read.
    if (error instanceof RangeError) return { bytes: reader.size };
    throw error;
  } finally {
    reader.close();
  }
}

function lengthOf(reader: ByteReader): Length {
  const start = tagBytes(reader, 0);
  const head = reader.read(start, 12).toString('latin1');
  if (head.startsWith('OggS')) return { seconds: oggSeconds(reader), bytes: reader.size };
  if (head.startsWith('\x1a\x45\xdf\xa3')) return webmLength(reader);
  if (/^(RIFF|RF64|BW64)/.test(head)) return wavLength(reader);
  if (head.slice(4, 8) === 'ftyp') return { bytes: endOfMp4(reader) };
  if (!head.startsWith('fLaC')) return { seconds: mpegSeconds(reader), bytes: reader.size };
  const bytes = reader.find(FLAC, start + 4);
  const seconds = flacSeconds(reader, start, bytes);
  return { ...(seconds && { seconds }), bytes };
}
