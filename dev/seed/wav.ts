import { SAMPLE_RATE, type Samples } from './audio/signal.ts';

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

/** A WAV file (PCM, 16 bit) of channels of equal length whose samples lie in -1..1. */
export function encodeWav(channels: Samples[]): Buffer {
  const frames = channels[0]?.length ?? 0;
  const frameBytes = channels.length * BYTES_PER_SAMPLE;
  const file = Buffer.alloc(HEADER_BYTES + frames * frameBytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels.length, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * frameBytes, 28);
  file.writeUInt16LE(frameBytes, 32);
  file.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(frames * frameBytes, 40);
  for (const [channel, samples] of channels.entries()) {
    let offset = HEADER_BYTES + channel * BYTES_PER_SAMPLE;
    for (const sample of samples) {
      file.writeInt16LE(Math.round(sample * 32767), offset);
      offset += frameBytes;
    }
  }
  return file;
}
