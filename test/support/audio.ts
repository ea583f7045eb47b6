/** Returns a WAV file (PCM, mono, 16 bit) with a unique tone, because an import identifies recordings by content. */
export function tone(seconds = 0.2, hertz = 100 + 300 * Math.random()): Buffer {
  const rate = 24_000;
  const samples = Int16Array.from({ length: Math.round(seconds * rate) }, (_, index) =>
    Math.round(32_767 * Math.sin((2 * Math.PI * hertz * index) / rate)),
  );
  const header = Buffer.from('RIFF....WAVEfmt ....................data....', 'latin1');
  header.writeUInt32LE(36 + samples.byteLength, 4);
  // Write length of the format, PCM and channels, samples and bytes per second, bytes and bits per sample, data length.
  header.writeUInt32LE(16, 16);
  header.writeUInt32LE(0x0001_0001, 20);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * rate, 28);
  header.writeUInt32LE(0x0010_0002, 32);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, new Uint8Array(samples.buffer)]);
}

/** Returns a short recording of this size, which an import uploads in parts of 6 MB. A chunk of zeros fills it. */
export function largeTone(bytes: number): Buffer {
  const recording = tone();
  const filler = Buffer.alloc(bytes - recording.length);
  filler.write('JUNK');
  filler.writeUInt32LE(filler.length - 8, 4);
  recording.writeUInt32LE(bytes - 8, 4);
  return Buffer.concat([recording, filler]);
}
