import type { Preview } from './api.ts';
import { favorites, setFavorite } from './copy.ts';
import { button, icon } from './dom.ts';

addEventListener('favorites', () => {
  for (const one of document.querySelectorAll<HTMLButtonElement>('.heart'))
    one.ariaPressed = String(favorites.has(one.value));
});

/** Returns the properties of the button for a sound. */
export function heartOf({ id, title }: Preview) {
  return { value: id, ariaLabel: `Favorite: ${title}`, ariaPressed: String(favorites.has(id)) };
}

/** Returns a button that shows and changes whether a sound is a favorite. All buttons of a sound change at once. */
export function heart(sound: Preview) {
  const change = () => setFavorite(element.value, !favorites.has(element.value));
  const element = button(icon('heart'), change, { className: 'heart', ...heartOf(sound) });
  return element;
}
