import { el } from './dom.ts';
import { endlessList, item } from './parts.ts';
import { loadFavorites, sounds } from './sounds.ts';

export async function home() {
  const [sections] = await Promise.all([sounds.home(), loadFavorites()]);
  const show = ({ title, sounds }: (typeof sections)[number]) =>
    el('section', {}, el('h2', {}, title), el('ul', { className: 'cards' }, ...sounds.map(item)));
  return [el('h1', {}, 'Listen'), ...sections.map(show)];
}

export async function browse() {
  const [categories] = await Promise.all([sounds.categories(), loadFavorites()]);
  const options = categories.flatMap(({ slug, name, children }) => [
    el('option', { value: slug }, name),
    ...children.map((child) => el('option', { value: child.slug }, `– ${child.name}`)),
  ]);
  const category = el('select', { ariaLabel: 'Category' }, el('option', { value: '' }, 'All'), ...options);
  const search = el('input', { type: 'search', placeholder: 'Search', ariaLabel: 'Search sounds' });
  const results = el('div');
  let last = new AbortController();
  let pause: number | undefined;
  const show = () => {
    last.abort();
    last = new AbortController();
    const filters = {
      limit: 20,
      search: search.value,
      ...(category.value && { category: category.value, include_children: true }),
    };
    results.replaceChildren(...endlessList(sounds.sounds.list(filters, { signal: last.signal })));
  };
  search.oninput = () => {
    clearTimeout(pause);
    pause = window.setTimeout(show, 300); // until the user pauses typing
  };
  category.onchange = show;
  show();
  return [el('h1', {}, 'Browse'), el('div', { className: 'filters' }, search, category), results];
}

export async function favoriteSounds() {
  const shown = (await loadFavorites()).flatMap(({ sounds }) => sounds ?? []); // a hidden one is null
  const hint = shown.length > 0 ? '' : 'Nothing yet: the heart of a sound puts it here.';
  return [el('h1', {}, 'Favorites'), el('p', {}, hint), el('ul', { className: 'rows' }, ...shown.map(item))];
}
