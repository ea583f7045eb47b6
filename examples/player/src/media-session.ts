import { element, now, seekTo, skip, stop, toggle } from './player.ts';
import { on, sounds } from './sounds.ts';

// The lock screen, the keys of a keyboard and of headphones.
const session: MediaSession | undefined = navigator.mediaSession;
const actions: [MediaSessionAction, MediaSessionActionHandler][] = [
  ['play', () => toggle()],
  ['pause', () => element.pause()],
  ['stop', () => stop()],
  ['nexttrack', () => skip(1)],
  ['previoustrack', () => skip(-1)],
  ['seekto', ({ seekTime = 0 }) => seekTo(seekTime)],
];
for (const [action, handler] of actions) session?.setActionHandler(action, handler);

let shown: string | undefined;

on('player', () => {
  if (!session) return;
  const { state, sound } = now();
  session.playbackState =
    state === 'idle' ? 'none' : state === 'playing' || state === 'stalled' ? 'playing' : 'paused';
  if (sound?.id === shown) return;
  shown = sound?.id;
  const cover = sound && sounds.coverUrl(sound);
  const artwork = cover ? [{ src: cover }] : [];
  session.metadata =
    sound && new MediaMetadata({ title: sound.title, artist: sound.category ?? '', artwork });
});
