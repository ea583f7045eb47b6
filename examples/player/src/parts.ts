import { button, el, fill } from './dom.ts';
import { now, play } from './player.ts';
import { api, favorites, type Preview, setFavorite } from './sounds.ts';

export const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

export const coverOf = (sound: Preview) =>
  api.coverUrl(sound) ?? 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';

export const categoryOf = ({ category }: Preview) => category?.replaceAll('-', ' ') ?? '';

const look = (id: string) =>
  favorites.has(id) ? { ariaPressed: 'true', textContent: '♥' } : { ariaPressed: 'false', textContent: '♡' };

addEventListener('favorites', () => {
  for (const one of document.querySelectorAll<HTMLButtonElement>('.heart'))
    Object.assign(one, look(one.value));
});

export const heartOf = ({ id, title }: Preview) => ({
  value: id,
  ariaLabel: `Favorite: ${title}`,
  ...look(id),
});

/** Tells whether a sound is a favorite, and changes that; all hearts of a sound follow at once. */
export function heart(sound: Preview) {
  const change = () => setFavorite(element.value, !favorites.has(element.value));
  const element = button('', change, { className: 'heart', ...heartOf(sound) });
  return element;
}

/** A sound in a list: a click plays it, and the list goes on after it. */
export function item(sound: Preview, _index: number, list: readonly Preview[]) {
  const { id, title, duration_sec } = sound;
  const facts = [categoryOf(sound), duration_sec === null ? '' : clock(duration_sec)];
  const text = el('span', {}, el('strong', {}, title), el('small', {}, facts.filter(Boolean).join(' · ')));
  const picture = el('img', { src: coverOf(sound), alt: '' });
  const listen = el('button', { type: 'button', className: 'listen', value: id }, picture, text);
  // The further clicks of a double one belong to the first.
  listen.onclick = ({ detail }) => void (detail < 2 && play(sound, list));
  if (now().sound?.id === id) listen.ariaCurrent = 'true';
  return el('li', {}, listen, heart(sound));
}

/** A list that goes on when its end comes into view. After a failure it is opened anew, and while another try waits. */
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
      if (all.some(({ id }) => id === value.id)) continue; // stands there since before
      count += 1;
      all.push(value);
      list.append(make(value, all.length - 1, all));
    }
    source = current;
    observer.observe(end); // tells at once whether it is still in view
    return [];
  };
  const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fill(end, more));
  observer.observe(end);
  return [list, end];
}
