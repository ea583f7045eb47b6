import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import PQueue from 'p-queue';
import type { Measured } from '../project/measurements.ts';
import { Rejected } from '../shared/problems.ts';

/**
 * Measures loudness and peak of the audio as it is, and decodes samples for length and waveform. Keeps all channels,
 * because opposite ones cancel each other in mono. Numbers samples anew, because times of joined recordings run back.
 */
const FILTERS = `[0:a:0]asplit[whole][copy];[whole]ebur128=peak=true:framelog=verbose[loudness];\
[copy]asetpts=N/SR/TB,aformat=sample_rates=16000:sample_fmts=u8[samples]`;

/** Number of samples for each peak: 10 ms of one channel. */
const BLOCK = 160;

/** Contains no playlists and no lists of files, because ffmpeg would follow them. */
const FORMATS = 'aac,ac3,aiff,amr,ape,asf,au,caf,dts,flac,matroska,mov,mp3,ogg,tta,w64,wav,wv';
const INPUT = `-nostdin -hide_banner -nostats -loglevel level+info -protocol_whitelist file -format_whitelist ${FORMATS}`;
const OUTPUTS = '-map [loudness] -f null - -map [samples] -f u8 pipe:1 -map 0:a:0 -c copy -f hash -hash sha256 pipe:3';

const queue = new PQueue({ concurrency: 2 });

/**
 * Decodes a recording with ffmpeg, two at a time, and measures it.
 * @param size in bytes
 * @returns undefined if ffmpeg is not installed
 * @throws Rejected
 */
export const measure = (source: string, size: number): Promise<Measured | undefined> =>
  queue.add(() => decode(source, 60 + Math.round(size / 50_000)));

async function decode(source: string, maxSeconds: number): Promise<Measured | undefined> {
  const options = [...INPUT.split(' '), '-i', `file:${source}`, '-filter_complex', FILTERS, ...OUTPUTS.split(' ')];
  const ffmpeg = spawn('ffmpeg', options, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: maxSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  const [, stdout, stderr, hashed] = ffmpeg.stdio as Readable[] as [null, Readable, Readable, Readable];
  const ended = once(ffmpeg, 'close').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [undefined];
  });
  let [count, highest] = [0, 0];
  const peaks: number[] = [];
  stdout.on('data', (chunk: Buffer) => {
    for (const sample of chunk) {
      highest = Math.max(highest, Math.abs(sample - 128));
      count += 1;
      if (count % BLOCK === 0) [highest] = [0, peaks.push(highest)];
    }
  });
  const [[code], log, hash] = await Promise.all([ended, text(stderr), text(hashed)]);
  if (code === undefined) return undefined;
  if (ffmpeg.killed) throw new Rejected(`ffmpeg takes more than ${maxSeconds} s to decode it. Export it again.`);
  requireFreeAudio(log);
  requireName(source, log);
  const number = (pattern: RegExp, from: string) => Number(pattern.exec(from)?.[1] ?? Number.NaN);
  // The bit rate includes all channels. Its unit is 125 bytes per second.
  const length = count / 125 / number(/pcm_u8, 16000 Hz, .* (\d+) kb\/s/, log);
  if (code !== 0 || !(length > 0)) {
    const [, reason = 'no audio'] = /\[(?:error|fatal)\] (.+)/.exec(log) ?? [];
    if (/whitelist/.test(reason))
      throw new Rejected('It is a playlist, not a recording. Import the files that it names.');
    if (/channel layout/.test(reason)) throw new Rejected('It has too many channels. Export it in stereo.');
    throw new Rejected(
      `It cannot be read as audio: ${reason.replace(/\.$/, '')}. Check that it plays, and export it again.`,
    );
  }
  // ffmpeg prints a summary for each part with other channels or another sample rate. Those of silence have no peak.
  const parts = log.split('Summary:').slice(1);
  const peaksOfParts = parts.map((part) => number(/ Peak: +(\S+) dBFS/, part));
  const heard = parts.filter((_, index) => Number.isFinite(peaksOfParts[index]));
  const loudness = heard.length === 1 ? number(/ I: +(\S+) LUFS\s+Threshold/, heard[0] ?? '') : Number.NaN;
  const peak = Math.max(...peaksOfParts.filter(Number.isFinite));
  return {
    audio_checksum: hash.trim().replace(/^SHA256=/, ''),
    facts: {
      duration_sec: Math.round(length * 1000) / 1000,
      // -70 is the threshold of the standard, below which nothing is measured.
      loudness_lufs: loudness > -70 ? loudness : null,
      true_peak_dbtp: Number.isFinite(peak) ? peak : null,
      waveform: waveformOf(peaks),
    },
  };
}

/** Returns the peaks of 200 equal parts, from 0 for silence to 100 for full scale. */
const waveformOf = (peaks: number[]) =>
  Array.from({ length: 200 }, (_, part) => {
    const [start, end] = [Math.floor((part * peaks.length) / 200), Math.ceil(((part + 1) * peaks.length) / 200)];
    const highest = peaks.slice(start, end).reduce((a, b) => Math.max(a, b), 0);
    return Math.min(100, Math.round((100 * highest) / 127));
  });

/** Rejects formats without a signature that file-type knows, which no app plays under the name of another one. */
function requireName(source: string, log: string): void {
  const [, format] = /^\[info\] Input #0, (au|caf|dts|tta|w64),/m.exec(log) ?? [];
  if (format !== undefined && extname(source).toLowerCase() !== `.${format}`) throw isActually(format);
}

/** Returns the error for a recording whose name belongs to another format. */
export const isActually = (format: string) =>
  new Rejected(
    /^(aac|aif|flac|m4a|mp3|ogg|opus|wav|webm)$/.test(format)
      ? `It is actually a .${format}: rename it, or export it again.`
      : `It is actually a .${format}: export it as .m4a or .mp3.`,
  );

/** @throws Rejected if the log of ffmpeg shows moving pictures or encryption */
function requireFreeAudio(log: string): void {
  const [streams = ''] = log.split('Stream mapping:');
  if (/^\[info\] +Stream .*: Video: (?!mjpeg|png|bmp|gif|webp|tiff|.*attached pic)/m.test(streams))
    throw new Rejected('It is a video. Export only its audio track.');
  if (/^\[info\] +Stream .*: Audio: .*\((drm[si]|enca)\b/m.test(streams)) throw new Rejected(IS_PROTECTED);
}

export const IS_PROTECTED = 'It is protected: only the app of the shop plays it. Import an unprotected copy.';
export const INSTALL_FFMPEG =
  'Install it (apt install ffmpeg, brew install ffmpeg or winget install ffmpeg), then run the import again.';
