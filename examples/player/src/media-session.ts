import { element, now, pause, resume, seekTo, skip, stop } from './player.ts';
import { on, sounds } from './sounds.ts';

// The lock screen, the keys of a keyboard and of headphones.
const session: MediaSession | undefined = navigator.mediaSession;
const actions: [MediaSessionAction, MediaSessionActionHandler][] = [
  ['play', resume],
  ['pause', pause],
  ['stop', stop],
  ['nexttrack', () => skip(1)],
  ['previoustrack', () => skip(-1)],
  ['seekto', ({ seekTime = 0 }) => seekTo(seekTime)],
];
for (const [action, handler] of actions) session?.setActionHandler(action, handler);

on('player', () => {
  if (!session) return;
  const { sound } = now();
  session.playbackState = sound === null ? 'none' : element.paused ? 'paused' : 'playing';
  const cover = sound && sounds.coverUrl(sound);
  const artwork = cover ? [{ src: cover }] : [];
  session.metadata =
    sound && new MediaMetadata({ title: sound.title, artist: sound.category ?? '', artwork });
});
