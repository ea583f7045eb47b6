import { thumbHashToDataURL } from 'thumbhash';
import { api, type Preview } from './api.ts';
import { el, icon } from './dom.ts';
import { positions } from './positions.ts';
import { isLocked } from './premium.ts';
import { clock } from './texts.ts';

/** Empty image over the placeholder from the style sheet. */
const noCover = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';

export const coverOf = (sound: Pick<Preview, 'cover_image_url'>) => api.coverUrl(sound) ?? noCover;

type Cover = Pick<Preview, 'cover_image_url' | 'cover_placeholder'>;

/** Shows a cover, and its placeholder until it has loaded. @param options `small` for lists */
export function showCover(image: HTMLImageElement, sound: Cover, options?: { small: boolean }) {
  const hash = Uint8Array.from(atob(sound.cover_placeholder ?? ''), (char) => char.charCodeAt(0));
  image.style.backgroundImage = hash.length > 0 ? `url(${thumbHashToDataURL(hash)})` : '';
  image.src = api.coverUrl(sound, options) ?? noCover;
}

export function picture(sound?: Cover) {
  const image = el('img', { loading: 'lazy', alt: '' });
  image.onerror = () => Object.assign(image, { src: noCover });
  if (sound) showCover(image, sound);
  return image;
}

/** Returns the small cover of a sound, or the cover itself if there is no small one. */
function smallPicture(sound: Cover) {
  const image = picture();
  const showNone = image.onerror;
  image.onerror = () => Object.assign(image, { onerror: showNone, src: coverOf(sound) });
  showCover(image, sound, { small: true });
  return image;
}

/** Shows on a cover how far the user has listened. */
function showHeard(bar: HTMLProgressElement) {
  bar.value = positions.get(bar.dataset['sound'] ?? '') ?? 0;
  bar.hidden = bar.value === 0;
  bar.ariaLabel = `${clock(bar.max - bar.value)} left`;
}
addEventListener('positions', () => {
  for (const one of document.querySelectorAll('progress')) showHeard(one);
});

/** Returns the cover of a sound in a list. */
export function cover(sound: Preview) {
  const bar = el('progress', { max: sound.duration_sec || 1 });
  bar.dataset['sound'] = sound.id;
  showHeard(bar);
  return el('span', { className: 'cover' }, smallPicture(sound), bar, ...(isLocked(sound) ? [icon('lock')] : []));
}
