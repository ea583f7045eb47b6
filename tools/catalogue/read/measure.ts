import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import PQueue from 'p-queue';
import { currentVersion, type Measured } from '../project/measurements.ts';
import { Rejected } from '../shared/problems.ts';
import { startFfmpeg } from './ffmpeg.ts';
import { loudnessOfParts, silenceLufs } from './loudness.ts';
import { readPeaks, waveformOf } from './waveform.ts';

/**
 * Filters of ffmpeg. One output is measured as it is, for loudness and peak; the other is decoded, for length and
 * waveform. All channels are kept, because opposite ones cancel each other in mono. Mono counts as on two speakers,
 * which is 3 LU louder. `asetpts` numbers samples anew, because times of joined recordings run back.
 */
const filters = `[0:a:0]asplit[whole][copy];[whole]ebur128=peak=true:dualmono=true:framelog=verbose[loudness];\
[copy]asetpts=N/SR/TB,aformat=sample_rates=16000:sample_fmts=s16[samples]`;
const outputs =
  '-map [loudness] -f null - -map [samples] -f s16le pipe:1 -map 0:a:0 -c copy -f hash -hash sha256 pipe:3';

/** Longest recording in seconds, as the table requires. */
const maxLength = 24 * 60 * 60;

/** Maximum number of channels: that of FLAC, Opus and 7.1. Releases of ffmpeg differ about layouts with more. */
const maxChannels = 8;

const queue = new PQueue({ concurrency: 2 });

/**
 * Decodes a recording with ffmpeg, two at a time, and measures it. All releases of ffmpeg since 5 agree.
 * @param size in bytes
 * @returns undefined if ffmpeg is not installed
 * @throws Rejected, ImportError
 */
export const measure = (source: string, size: number): Promise<Measured | undefined> =>
  queue.add(async () => {
    const maxSeconds = 60 + Math.round(size / 50_000);
    const decoded = await decode(source, maxSeconds);
    if (!decoded) return undefined;
    const { log, hash, peaks } = decoded;
    requireFreeAudio(log);
    requireName(source, log);
    const length = lengthOf(decoded);
    return {
      version: currentVersion,
      audio_checksum: hash.trim().replace(/^SHA256=/, ''),
      facts: {
        duration_sec: Math.round(length * 1000) / 1000,
        ...(await levelsOf(log, () => loudnessOfParts(source, maxSeconds))),
        waveform: waveformOf(peaks),
      },
    };
  });

/** Result of a run of ffmpeg. Without a code, it was stopped because its header says that it is too long. */
interface Decoded {
  code: number | null;
  log: string;
  hash: string;
  peaks: number[];
  samples: number;
}

/** Runs ffmpeg. @returns undefined if it is not installed @throws Rejected, ImportError */
async function decode(source: string, maxSeconds: number): Promise<Decoded | undefined> {
  const options = ['-filter_complex', filters, ...outputs.split(' ')];
  const { stdout, stderr, extra, ended, kill } = startFfmpeg(source, options, maxSeconds);
  const reading = [readLog(stderr, kill), text(extra), readPeaks(stdout)] as const;
  const [code, log, hash, { peaks, samples }] = await Promise.all([ended, ...reading]);
  return code === undefined ? undefined : { code, log, hash, peaks, samples };
}

/** Reads the log of ffmpeg. Calls `stop` if it says that the recording is too long, because decoding takes minutes. */
async function readLog(stderr: Readable, stop: () => void): Promise<string> {
  let log = '';
  let length: number | undefined;
  for await (const chunk of stderr.setEncoding('utf8')) {
    log += chunk;
    if (length !== undefined) continue;
    length = headerLength(log);
    if (length !== undefined && length > maxLength) stop();
  }
  return log;
}

/** Returns the length in the header in seconds, once the log has its whole line. That of Ogg includes the start. */
function headerLength(log: string): number | undefined {
  const line = /^\[info\] +Duration: (\d+):(\d+):([\d.]+)(?:, start: (\d+))?.*\n/m.exec(log)?.slice(1);
  if (!line || log.includes('Estimating duration from bitrate')) return undefined;
  const [hours = 0, minutes = 0, seconds = 0, start = 0] = line.map((digits) => Number(digits ?? 0));
  return 3600 * hours + 60 * minutes + seconds - start;
}

/** Returns the length of the audio data in seconds. @throws Rejected if there is none, or too much */
function lengthOf({ code, log, samples }: Decoded): number {
  const header = headerLength(log);
  if (header !== undefined && header > maxLength) throw new Rejected(tooLong);
  // Rejects random bytes, which may look like a frame of AAC.
  if (log.includes('Format aac detected only with low score of 1,')) throw new Rejected(unreadable);
  // Derives the channels from the bit rate of the output, which is 256 kb/s for each.
  const channels = numberIn(log, /Output #1,[\s\S]*? pcm_s16le, 16000 Hz, .* (\d+) kb\/s/) / 256;
  if (channels > maxChannels || numberIn(log, / Stream #0:0.*: Audio: .*, (\d+) channels,/) > maxChannels)
    throw new Rejected('It has too many channels. Export it in stereo.');
  if (log.includes('whitelist'))
    throw new Rejected('It is a playlist, not a recording. Import the files that it names.');
  const length = samples / channels / 16_000;
  if (code !== 0 || !(length > 0)) throw new Rejected(unreadable);
  if (length > maxLength) throw new Rejected(tooLong);
  // Prefer the header of a FLAC: apps show its length, and releases of ffmpeg decode damaged files differently.
  const isFlac = log.includes('[info] Input #0, flac,');
  return isFlac && header && length > header - 1 && Math.abs(length - header) > 0.02 ? header : length;
}

/** Returns loudness and true peak. ffmpeg prints a summary for each part with other channels or another sample rate. */
async function levelsOf(log: string, measureParts: () => Promise<number>) {
  const parts = log.split('Summary:').slice(1);
  const peakOf = (part: string) => numberIn(part, / Peak: +(\S+) dBFS/);
  const heard = parts.filter((part) => Number.isFinite(peakOf(part))); // silence has no peak
  const [only = ''] = heard;
  const loudness = heard.length > 1 ? await measureParts() : numberIn(only, / I: +(\S+) LUFS\s+Threshold/);
  return {
    loudness_lufs: loudness > silenceLufs ? loudness : null,
    true_peak_dbtp: heard.length > 0 ? Math.max(...heard.map(peakOf)) : null,
  };
}

const numberIn = (log: string, pattern: RegExp) => Number(pattern.exec(log)?.[1] ?? Number.NaN);

/** Rejects formats that file-type does not detect if the extension is another one, because then no app plays them. */
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

/** Rejects videos and encrypted files. @throws Rejected if the log of ffmpeg shows one */
function requireFreeAudio(log: string): void {
  const [streams = ''] = log.split('Stream mapping:');
  if (/^\[info\] +Stream .*: Video: (?!mjpeg|png|bmp|gif|webp|tiff|.*attached pic)/m.test(streams))
    throw new Rejected('It is a video. Export only its audio track.');
  if (/^\[info\] +Stream .*: Audio: .*\((drm[si]|enca)\b/m.test(streams)) throw new Rejected(isProtected);
}

export const unreadable = 'It cannot be read as audio. Check that it plays, and export it again.';
const tooLong = 'It is longer than a day. Export it in parts.';
export const isProtected = 'It is protected: only the app of the shop plays it. Import an unprotected copy.';
export const installFfmpeg =
  'Install it (apt install ffmpeg, brew install ffmpeg or winget install ffmpeg), then run the import again.';
