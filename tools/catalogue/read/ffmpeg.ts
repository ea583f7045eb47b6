import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ImportError, Rejected } from '../shared/problems.ts';

/** Contains no playlists and no lists of files, because ffmpeg would follow them. */
const formats = 'aac,ac3,aiff,amr,ape,asf,au,caf,dts,flac,matroska,mov,mp3,ogg,tta,w64,wav,wv';
const input = `-nostdin -hide_banner -nostats -loglevel level+info -protocol_whitelist file -format_whitelist ${formats}`;

/**
 * Starts ffmpeg with a recording as its input. Kills it if it takes too long.
 * @param outputs options after the input. `pipe:1` is `stdout`, `pipe:3` is `extra`
 * @returns its output, its log (`stderr`), and `ended`, which resolves to its exit code, or to undefined if ffmpeg is
 *   not installed. `ended` rejects with Rejected if it took too long, and with ImportError if it cannot be started
 */
export function startFfmpeg(source: string, outputs: string[], maxSeconds: number) {
  // The timer of this signal does not keep the process alive, as the option `timeout` does if there is no ffmpeg.
  const signal = AbortSignal.timeout(maxSeconds * 1000);
  const ffmpeg = spawn('ffmpeg', [...input.split(' '), '-i', `file:${source}`, ...outputs], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const [, stdout, stderr, extra] = ffmpeg.stdio as Readable[] as [null, Readable, Readable, Readable];
  const ended = once(ffmpeg, 'close').then(
    ([code]): number | null => code,
    ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ENOENT') return undefined;
      if (signal.aborted) throw new Rejected(`ffmpeg takes more than ${maxSeconds} s to decode it. Export it again.`);
      throw new ImportError(`ffmpeg cannot be started (${code}). Install it again, or remove it from the path.`);
    },
  );
  return { stdout, stderr, extra, ended, kill: () => ffmpeg.kill('SIGKILL') };
}
