import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import PQueue from 'p-queue';
import type { Measured } from '../project/measurements.ts';
import { Rejected } from '../shared/problems.ts';

/**
 * Filters of ffmpeg: loudness and peak of the audio as it is, and samples for length and waveform. Keeps all channels,
 * because opposite ones cancel each other in mono. Numbers samples anew, because times of joined recordings run back.
 */
const FILTERS = `[0:a:0]asplit[whole][copy];[whole]ebur128=peak=true:framelog=verbose[loudness];\
[copy]asetpts=N/SR/TB,aformat=sample_rates=24000:sample_fmts=u8[samples]`;

const OUTPUTS = `-map [loudness] -f null - -map [samples] -f u8 pipe:1 -map 0:a:0 -c copy -f hash -hash sha256 pipe:3`;

/** Samples of which one peak is kept: 10 ms of one channel. */
const BLOCK_BYTES = 240;

/** Bytes of a second of one channel in a bit rate of 1 kb/s. */
const BYTES_PER_KILOBIT = 125;

/** Thrown if ffmpeg is not installed. */
export class NoFfmpeg extends Error {}

const queue = new PQueue({ concurrency: 2 });

/**
 * Decodes a recording with ffmpeg, two at a time, and measures it.
 * @param size in bytes
 * @param demuxer reader of its format, so that ffmpeg does not follow a playlist that is named like a recording
 * @throws Rejected, NoFfmpeg
 */
export const measure = (source: string, size: number, demuxer: string | undefined): Promise<Measured> =>
  queue.add(() => decode(source, size, demuxer));

async function decode(source: string, size: number, demuxer: string | undefined): Promise<Measured> {
  const limits = '-nostdin -hide_banner -nostats -loglevel level+info -protocol_whitelist file'.split(' ');
  const input = [...limits, ...(demuxer ? ['-f', demuxer] : []), '-i', `file:${source}`];
  const seconds = Math.round(60 + size / 50_000);
  const ffmpeg = spawn('ffmpeg', [...input, '-filter_complex', FILTERS, ...OUTPUTS.split(' ')], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
  });
  const [, stdout, stderr, hashed] = ffmpeg.stdio as Readable[] as [null, Readable, Readable, Readable];
  const ended = new Promise<number | null>((resolve, reject) => {
    ffmpeg.on('close', resolve).on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new NoFfmpeg() : error);
    });
  });
  const samples = { count: 0, peak: 0, peaks: [] as number[] };
  stdout.on('data', (chunk: Buffer) => addPeaks(samples, chunk));
  const [code, log, hash] = await Promise.all([ended, text(stderr), text(hashed)]);
  if (code === null) throw new Rejected(`ffmpeg takes more than ${seconds} s to decode it. Export it again.`);
  requireFreeAudio(log);
  // A graph that ffmpeg rebuilds at the start of the stream prints an empty summary first.
  const summary = log.slice(log.lastIndexOf('Summary:'));
  const number = (pattern: RegExp, from = summary) => Number(pattern.exec(from)?.[1] ?? Number.NaN);
  const length = samples.count / BYTES_PER_KILOBIT / number(/pcm_u8, 24000 Hz, .* (\d+) kb\/s/, log);
  if (code !== 0 || !(length > 0)) {
    const [, reason = 'no audio'] = /\[(?:error|fatal)\] (.+)/.exec(log) ?? [];
    throw new Rejected(
      `It cannot be read as audio: ${reason.replace(/\.$/, '')}. Check that it plays, and export it again.`,
    );
  }
  const [loudness, peak] = [number(/ I: +(\S+) LUFS\s+Threshold/), number(/ Peak: +(\S+) dBFS/)];
  return {
    audio_checksum: hash.trim().replace(/^SHA256=/, ''),
    facts: {
      duration_sec: Math.round(length * 1000) / 1000,
      // -70 is the threshold of the standard, below which nothing is measured.
      loudness_lufs: loudness > -70 ? loudness : null,
      true_peak_dbtp: Number.isFinite(peak) ? peak : null,
      waveform: waveformOf(samples.peaks),
    },
  };
}

/** Adds the peaks of blocks. Uses an index, because iterators are slow for millions of samples. */
function addPeaks(samples: { count: number; peak: number; peaks: number[] }, chunk: Buffer): void {
  let { count, peak } = samples;
  for (let index = 0; index < chunk.length; index += 1) {
    const height = Math.abs((chunk[index] ?? 128) - 128);
    if (height > peak) peak = height;
    count += 1;
    if (count % BLOCK_BYTES === 0) [peak] = [0, samples.peaks.push(peak)];
  }
  Object.assign(samples, { count, peak });
}

/** Returns the peaks of 200 equal parts, from 0 for silence to 100 for full scale. */
const waveformOf = (peaks: number[]) =>
  Array.from({ length: 200 }, (_, part) => {
    const [start, end] = [Math.floor((part * peaks.length) / 200), Math.ceil(((part + 1) * peaks.length) / 200)];
    const highest = peaks.slice(start, end).reduce((a, b) => Math.max(a, b), 0);
    return Math.min(100, Math.round((100 * highest) / 127));
  });

/** @throws Rejected if the log of ffmpeg shows moving pictures or encryption */
function requireFreeAudio(log: string): void {
  const [streams = ''] = log.split('Stream mapping:');
  if (/: Video: (?!mjpeg|png|bmp|gif|webp|tiff)(?!.*attached pic)/.test(streams)) throw new Rejected(IS_VIDEO);
  if (/: Audio: .*\((drm[si]|enca)\b/.test(streams)) throw new Rejected(IS_PROTECTED);
}

export const IS_VIDEO = 'It is a video. Export only its audio track.';
export const IS_PROTECTED = 'It is protected: only the app of the shop plays it. Import an unprotected copy.';
export const INSTALL_FFMPEG =
  'Install it (apt install ffmpeg, brew install ffmpeg or winget install ffmpeg), then run the import again.';
