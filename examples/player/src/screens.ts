import { button, el } from './dom.ts';
import { copyInUse } from './offline.ts';
import { endlessList, item } from './parts.ts';
import { loadFavorites, type Preview, sounds } from './sounds.ts';

export async function home() {
  const copy = await copyInUse();
  const [sections] = copy
    ? [await sounds.offline.home()]
    : await Promise.all([sounds.home(), loadFavorites()]);
  const show = ({ title, sounds }: (typeof sections)[number]) =>
    el('section', {}, el('h2', {}, title), el('ul', { className: 'cards' }, ...sounds.map(item)));
  const filled = sections.filter(({ sounds }) => sounds.length > 0).map(show);
  return [...(copy ? [copy] : []), ...(filled.length > 0 ? filled : ['There are no sounds yet.'])];
}

/** What is searched for stands in the address, so that Back finds it again. */
const searchOf = () => new URLSearchParams(location.hash.split('?')[1]);

/** What of the copy is in a category and found by a search. */
async function* inCopy(search: string, category: string) {
  const { offline } = sounds;
  const listed = await offline.list(category ? { category, include_children: true } : {});
  if (!search.trim()) return yield* listed;
  const ids = new Set(listed.map(({ id }) => id));
  yield* (await offline.search(search)).filter(({ id }) => ids.has(id));
}

export async function browse() {
  const copy = await copyInUse();
  const [categories] = copy
    ? [await sounds.offline.categories()]
    : await Promise.all([sounds.categories(), loadFavorites()]);
  const options = categories.flatMap(({ slug, name, children }) => [
    new Option(name, slug),
    ...children.map((child) => new Option(`– ${child.name}`, child.slug)),
  ]);
  const category = el('select', { ariaLabel: 'Category' }, new Option('All', ''), ...options);
  const search = el('input', { type: 'search', placeholder: 'Search', ariaLabel: 'Search sounds' });
  search.value = searchOf().get('search') ?? '';
  category.value = searchOf().get('category') ?? '';
  const results = el('div');
  let last = new AbortController();
  let pause = 0;
  const show = () => {
    last.abort();
    last = new AbortController();
    const { signal } = last;
    const filters = {
      limit: 20,
      search: search.value,
      ...(category.value && { category: category.value, include_children: true }),
    };
    const open = () =>
      copy && !navigator.onLine
        ? inCopy(search.value, category.value)
        : sounds.sounds.list(filters, { signal });
    results.replaceChildren(...endlessList<Preview>(open, item, 'Nothing found.'));
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
  return [...(copy ? [copy] : []), el('div', { className: 'filters' }, search, category), results];
}

export async function favoriteSounds() {
  const shown = (await loadFavorites()).flatMap(({ sounds }) => sounds ?? []); // a hidden one is null
  if (shown.length === 0) return ['Nothing yet: the heart of a sound puts it here.'];
  return [el('ul', { className: 'rows' }, ...shown.map(item))];
}

export async function listened() {
  await loadFavorites();
  async function* open() {
    for await (const { sounds: sound } of sounds.history.list()) if (sound) yield sound; // a hidden one is null
  }
  const entry = (sound: Preview, index: number, all: Preview[]) => {
    const row = item(sound, index, all);
    const remove = async () => {
      await sounds.history.remove(sound.id);
      const near = row.nextElementSibling ?? row.previousElementSibling;
      if (near === null) return empty();
      row.remove();
      near.querySelector<HTMLElement>('.remove')?.focus();
    };
    row.append(
      button('✕', remove, { className: 'remove', ariaLabel: `Remove from the history: ${sound.title}` }),
    );
    return row;
  };
  const list = el(
    'div',
    {},
    ...endlessList<Preview>(open, entry, 'Nothing yet: what you listen to stands here.'),
  );
  const empty = () => list.replaceChildren('The history is empty.');
  const clear = async () => {
    await sounds.history.clear();
    empty();
  };
  return [button('Clear the history', clear, { className: 'destructive' }), list];
}
