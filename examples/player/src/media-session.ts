import { categoryOf, coverOf } from './parts.ts';
import { element, now, pause, resume, seekTo, skip, stop } from './player.ts';

// The lock screen, the keys of a keyboard and of headphones.
const session = navigator.mediaSession;
const actions: [MediaSessionAction, MediaSessionActionHandler][] = [
  ['play', resume],
  ['pause', pause],
  ['stop', stop],
  ['nexttrack', () => skip(1)],
  ['previoustrack', () => skip(-1)],
  ['seekto', ({ seekTime = 0 }) => seekTo(seekTime)],
];
for (const [action, handler] of actions) session.setActionHandler(action, handler);

addEventListener('player', () => {
  const { sound } = now();
  session.playbackState = sound === null ? 'none' : element.paused ? 'paused' : 'playing';
  const artwork = sound ? [{ src: coverOf(sound) }] : [];
  session.metadata = sound && new MediaMetadata({ title: sound.title, artist: categoryOf(sound), artwork });
});
