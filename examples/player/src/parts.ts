import { thumbHashToDataURL } from 'thumbhash';
import { api, categoryOf, favorites, isLocked, type Preview, positions, setFavorite } from './api.ts';
import { button, el, fill, icon } from './dom.ts';
import { now, play } from './player.ts';

export const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

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
function cover(sound: Preview) {
  const bar = el('progress', { max: sound.duration_sec || 1 });
  bar.dataset['sound'] = sound.id;
  showHeard(bar);
  return el('span', { className: 'cover' }, smallPicture(sound), bar, ...(isLocked(sound) ? [icon('lock')] : []));
}

/** Returns the image of a waveform as CSS. A sound that was not measured gets a line. */
export function waveform(peaks: readonly number[] | null = null) {
  const heightOf = (at: number) => Math.max(4, ...(peaks?.slice(at, at + 2) ?? []));
  const bars = Array.from({ length: 100 }, (_, at) => `M${at + 0.5} ${50 - heightOf(2 * at) / 2}v${heightOf(2 * at)}`);
  const box = 'viewBox="0 0 100 100" preserveAspectRatio="none"';
  const path = `<path stroke="#000" stroke-width=".6" d="${bars.join('')}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${path}</svg>`;
  return `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
}

addEventListener('favorites', () => {
  for (const one of document.querySelectorAll<HTMLButtonElement>('.heart'))
    one.ariaPressed = String(favorites.has(one.value));
});

export function heartOf({ id, title }: Preview) {
  return { value: id, ariaLabel: `Favorite: ${title}`, ariaPressed: String(favorites.has(id)) };
}

/** Returns a button that shows and changes whether a sound is a favorite. All buttons of a sound change at once. */
export function heart(sound: Preview) {
  const change = () => setFavorite(element.value, !favorites.has(element.value));
  const element = button(icon('heart'), change, { className: 'heart', ...heartOf(sound) });
  return element;
}

export const pageOf = (id: string) => `#/sound/${id}`;

export function factsOf(sound: Preview) {
  return [isLocked(sound) && 'Premium', categoryOf(sound), sound.duration_sec && clock(sound.duration_sec)];
}

/** Returns the entry of a sound in a list. A click plays it, and then those after it. A locked one leads to a page. */
export function item(sound: Preview, _index: number, list: readonly Preview[]) {
  const { id, title } = sound;
  const name = el('strong', { dir: 'auto' }, title);
  const text = el('span', {}, name, el('small', {}, factsOf(sound).filter(Boolean).join(' · ')));
  const listen = el('button', { type: 'button', className: 'listen', value: id }, cover(sound), text);
  // Ignore the other clicks of a double click.
  listen.onclick = ({ detail }) => void (detail < 2 && play(sound, list));
  if (now().sound?.id === id) listen.ariaCurrent = 'true';
  const about = el('a', { className: 'icon', href: pageOf(id), ariaLabel: `About: ${title}` }, icon('about'));
  return el('li', {}, listen, about, heart(sound));
}

/** Returns a list that loads more when its end comes into view. Opens it again after a failure. */
export function endlessList(open: () => AsyncGenerator<Preview, void>, make: typeof item, empty: string) {
  const all: Preview[] = [];
  const list = el('ul', { className: 'rows' });
  const end = el('div');
  let source: ReturnType<typeof open> | null = null;
  const more = async () => {
    observer.disconnect();
    const current = source ?? open();
    source = null;
    for (let count = 0; count < 20; ) {
      const { done, value } = await current.next();
      if (done) return all.length > 0 ? [] : [empty];
      if (all.some(({ id }) => id === value.id)) continue; // it moved to a later page meanwhile
      count += 1;
      all.push(value);
      list.append(make(value, all.length - 1, all));
    }
    source = current;
    observer.observe(end); // calls `more` at once if the end is still in view
    return [];
  };
  const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fill(end, more));
  observer.observe(end);
  return [list, end];
}
