import { attempt, button, el, fill } from './dom.ts';
import { now, play } from './player.ts';
import { favorites, on, type Preview, setFavorite, sounds } from './sounds.ts';

export const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

export const cover = (sound: Preview) =>
  el('img', {
    src: sounds.coverUrl(sound) ?? 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>',
    alt: '',
  });

const look = (id: string) =>
  favorites.has(id) ? { ariaPressed: 'true', textContent: '♥' } : { ariaPressed: 'false', textContent: '♡' };

on('favorites', () => {
  for (const one of document.querySelectorAll<HTMLButtonElement>('.heart'))
    Object.assign(one, look(one.value));
});

/** Tells whether a sound is a favorite, and changes that; all hearts of a sound follow at once. */
export const heart = ({ id, title }: Preview) =>
  button('', () => setFavorite(id, !favorites.has(id)), {
    className: 'heart',
    value: id,
    ariaLabel: `Favorite: ${title}`,
    ...look(id),
  });

/** A sound in a list: a click plays it, and the list goes on after it. */
export function item(sound: Preview, _index: number, list: readonly Preview[]) {
  const { id, title, category, duration_sec } = sound;
  const facts = [category?.replaceAll('-', ' '), duration_sec === null ? '' : clock(duration_sec)];
  const text = el('span', {}, el('strong', {}, title), el('small', {}, facts.filter(Boolean).join(' · ')));
  const listen = el(
    'button',
    { type: 'button', className: 'listen', value: id, title: 'Play' },
    cover(sound),
    text,
  );
  listen.onclick = () => void attempt(() => play(sound, list));
  if (now().sound?.id === id) listen.ariaCurrent = 'true';
  return el('li', {}, listen, heart(sound));
}

/**
 * A list that goes on when its end comes into view.
 * @param open begins to read, after a failure anew
 * @param make an entry of what comes, and of all that came
 */
export function endlessList<T>(
  open: () => AsyncGenerator<T, void>,
  make: (value: T, index: number, all: T[]) => HTMLElement,
  empty: string,
) {
  const all: T[] = [];
  const list = el('ul', { className: 'rows' });
  const end = el('div');
  let source = open();
  const more = async () => {
    observer.disconnect();
    if (all.length === 0) list.replaceChildren();
    for (let count = 0; count < 20; count += 1) {
      const { done, value } = await source.next().catch((error) => {
        source = open();
        all.length = 0;
        throw error;
      });
      if (done) return end.replaceChildren(all.length > 0 ? '' : empty);
      all.push(value);
      list.append(make(value, all.length - 1, all));
    }
    observer.observe(end); // tells at once whether it is still in view
  };
  const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fill(end, more), {
    rootMargin: '300px',
  });
  observer.observe(end);
  return [list, end];
}
