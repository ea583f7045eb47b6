import type { OfflineFilters } from 'sounds-client';
import { button, el } from './dom.ts';
import { copyInUse } from './offline.ts';
import { endlessList, item } from './parts.ts';
import { api, loadFavorites } from './sounds.ts';

export async function home() {
  const [sections] = copyInUse()
    ? [await api.offline.home()]
    : await Promise.all([api.home(), loadFavorites()]);
  const show = ({ title, sounds }: (typeof sections)[number]) =>
    el('section', {}, el('h2', {}, title), el('ul', { className: 'cards' }, ...sounds.map(item)));
  const filled = sections.filter(({ sounds }) => sounds.length > 0).map(show);
  return filled.length > 0 ? filled : ['There are no sounds yet.'];
}

/** What of the copy is in a category and found by a search. */
async function* inCopy(search: string, filters: OfflineFilters) {
  const listed = await api.offline.list(filters);
  if (!search.trim()) return yield* listed;
  const ids = new Set(listed.map(({ id }) => id));
  yield* (await api.offline.search(search)).filter(({ id }) => ids.has(id));
}

export async function browse() {
  const [categories] = copyInUse()
    ? [await api.offline.categories()]
    : await Promise.all([api.categories(), loadFavorites()]);
  const options = categories.flatMap(({ slug, name, children }) => [
    new Option(name, slug),
    ...children.map((child) => new Option(`– ${child.name}`, child.slug)),
  ]);
  const category = el('select', { ariaLabel: 'Category' }, new Option('All', ''), ...options);
  const search = el('input', { type: 'search', placeholder: 'Search', ariaLabel: 'Search sounds' });
  // What is searched for stands in the address, so that Back finds it again.
  const asked = new URLSearchParams(location.hash.split('?')[1]);
  search.value = asked.get('search') ?? '';
  category.value = asked.get('category') ?? '';
  const results = el('div');
  let last = new AbortController();
  let pause = 0;
  const show = () => {
    last.abort();
    last = new AbortController();
    const { signal } = last;
    const filters = category.value ? { category: category.value, include_children: true } : {};
    const open = () =>
      copyInUse()
        ? inCopy(search.value, filters)
        : api.sounds.list({ limit: 20, search: search.value, ...filters }, { signal });
    results.replaceChildren(...endlessList(open, item, 'Nothing found.'));
  };
  const change = () => {
    if (!search.isConnected) return; // the user has gone on
    const query = new URLSearchParams({ search: search.value, category: category.value });
    history.replaceState(null, '', `#/browse?${query}`);
    show();
  };
  search.oninput = () => {
    clearTimeout(pause);
    pause = window.setTimeout(change, 300); // until the user pauses typing
  };
  category.onchange = change;
  show();
  return [el('div', { className: 'filters' }, search, category), results];
}

export async function favoriteSounds() {
  const shown = (await loadFavorites()).flatMap(({ sounds }) => sounds ?? []); // a hidden one is null
  if (shown.length === 0) return ['Nothing yet: the heart of a sound puts it here.'];
  return [el('ul', { className: 'rows' }, ...shown.map(item))];
}

export async function listened() {
  await loadFavorites();
  async function* open() {
    for await (const { sounds: sound } of api.history.list()) if (sound) yield sound; // a hidden one is null
  }
  const entry: typeof item = (sound, index, all) => {
    const row = item(sound, index, all);
    const remove = async () => {
      await api.history.remove(sound.id);
      const near = row.nextElementSibling ?? row.previousElementSibling;
      if (near === null) return empty();
      row.remove();
      near.querySelector<HTMLElement>('.remove')?.focus();
    };
    const ariaLabel = `Remove from the history: ${sound.title}`;
    row.append(button('✕', remove, { className: 'remove', ariaLabel }));
    return row;
  };
  const list = el('div', {}, ...endlessList(open, entry, 'Nothing yet: what you listen to stands here.'));
  const empty = () => list.replaceChildren(el('p', {}, 'The history is empty.'));
  const clear = () => api.history.clear().then(empty);
  return [button('Clear the history', clear, { className: 'destructive' }), list];
}
