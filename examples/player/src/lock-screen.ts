import { categoryOf } from './copy.ts';
import { coverOf } from './covers.ts';
import { nowMix, pauseMix, resumeMix, stopMix } from './mix.ts';
import * as player from './player.ts';

// Connects the lock screen and the keys of headphones with the mix, or without one with the single sound.

type Actions = { [action in MediaSessionAction]?: MediaSessionActionHandler };

const ofMix: Actions = { play: resumeMix, pause: pauseMix, stop: stopMix };
const ofSound: Actions = {
  play: player.resume,
  pause: player.pause,
  stop: player.stop,
  nexttrack: () => player.skip(1),
  previoustrack: () => player.skip(-1),
  seekto: ({ seekTime = 0 }) => player.seekTo(seekTime),
};

/** Returns what the lock screen shows, or null. */
function metadata() {
  const { sound } = player.now();
  const { mix } = nowMix();
  if (mix) return new MediaMetadata({ title: mix.name, artist: 'Mix' });
  return (
    sound && new MediaMetadata({ title: sound.title, artist: categoryOf(sound), artwork: [{ src: coverOf(sound) }] })
  );
}

function update() {
  const { mix, isPlaying } = nowMix();
  const session = navigator.mediaSession;
  session.metadata = metadata();
  const plays = mix ? isPlaying : !player.element.paused;
  session.playbackState = session.metadata === null ? 'none' : plays ? 'playing' : 'paused';
  for (const action of Object.keys(ofSound) as MediaSessionAction[])
    session.setActionHandler(action, (mix ? ofMix : ofSound)[action] ?? null);
}

addEventListener('player', update);
addEventListener('mix', update);
update();
