import type { Preview } from './api.ts';
import { categoryOf } from './copy.ts';
import { cover } from './covers.ts';
import { el, fill, icon } from './dom.ts';
import { heart } from './hearts.ts';
import { now, play } from './player.ts';
import { isLocked } from './premium.ts';
import { clock } from './texts.ts';

export const pageOf = (id: string) => `#/sound/${id}`;

/** Returns what a list says about a sound. */
export function factsOf(sound: Preview) {
  return [isLocked(sound) && 'Premium', categoryOf(sound), sound.duration_sec && clock(sound.duration_sec)];
}

/** Returns the entry of a sound in a list. A click plays it, and then those after it. A locked one leads to a page. */
export function soundRow(sound: Preview, list: readonly Preview[]) {
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
export function endlessList(open: () => AsyncGenerator<Preview, void>, rowOf: typeof soundRow, empty: string) {
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
      list.append(rowOf(value, all));
    }
    source = current;
    observer.observe(end); // calls `more` at once if the end is still in view
    return [];
  };
  const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fill(end, more));
  observer.observe(end);
  return [list, end];
}
