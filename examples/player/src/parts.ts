import { attempt, button, el } from './dom.ts';
import { play } from './player.ts';
import { favorites, type Preview, sounds } from './sounds.ts';

export const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

export const cover = (sound: Preview) =>
  el('img', {
    src: sounds.coverUrl(sound) ?? 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>',
    alt: '',
  });

const look = (id: string) =>
  favorites.has(id) ? { ariaPressed: 'true', textContent: '♥' } : { ariaPressed: 'false', textContent: '♡' };

addEventListener('favorites', () => {
  for (const one of document.querySelectorAll<HTMLButtonElement>('.heart'))
    Object.assign(one, look(one.value));
});

/** Tells whether a sound is a favorite, and changes that; all hearts of a sound follow at once. */
export function heart({ id, title }: Preview) {
  const change = async () => {
    const isFavorite = favorites.delete(id) ? false : favorites.add(id).has(id);
    dispatchEvent(new Event('favorites'));
    await (isFavorite ? sounds.favorites.add(id) : sounds.favorites.remove(id));
  };
  return button('', change, { className: 'heart', value: id, ariaLabel: `Favorite: ${title}`, ...look(id) });
}

/** A sound in a list: a click plays it. */
export function item(sound: Preview) {
  const { title, category, duration_sec } = sound;
  const facts = [category?.replaceAll('-', ' '), duration_sec === null ? '' : clock(duration_sec)];
  const text = el('span', {}, el('strong', {}, title), el('small', {}, facts.filter(Boolean).join(' · ')));
  const listen = button('', () => play(sound), { className: 'listen', title: 'Play' });
  listen.append(cover(sound), text);
  return el('li', {}, listen, heart(sound));
}

/** A list that goes on when its end comes into view. */
export function endlessList(source: AsyncGenerator<Preview>) {
  const list = el('ul', { className: 'rows' });
  const end = el('p', {}, 'Loading …');
  const more = async () => {
    observer.disconnect();
    for (let count = 0; count < 20; count += 1) {
      const { done, value } = await source.next();
      if (value) list.append(item(value));
      if (done) end.textContent = list.children.length > 0 ? '' : 'Nothing found.';
      if (done) return;
    }
    observer.observe(end); // tells at once whether it is still in view
  };
  const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void attempt(more), {
    rootMargin: '300px',
  });
  observer.observe(end);
  return [list, end];
}
