import type { Filters } from 'sounds-client';
import { api, categories, copyInUse, type Preview, positions, ready, tags } from './api.ts';
import { button, el, entitle, icon, notify } from './dom.ts';
import { adder } from './lists.ts';
import { endlessList, factsOf, heart, item, picture } from './parts.ts';
import { play } from './player.ts';

export async function home() {
  const [sections] = await Promise.all([copyInUse() ? api.offline.home() : api.home(), ready]);
  const heard = (await api.progress.list()).filter(({ sound_id }) => positions.has(sound_id));
  const unfinished = { title: 'Continue listening', sounds: shown(heard).slice(0, 6) };
  const filled = [unfinished, ...sections].filter(({ sounds }) => sounds.length > 0);
  const show = ({ title, sounds }: { title: string; sounds: Preview[] }) => [
    el('h2', { dir: 'auto' }, title),
    el('ul', { className: 'cards' }, ...sounds.map(item)),
  ];
  return filled.length > 0 ? filled.flatMap(show) : ['There are no sounds yet.'];
}

function listInCopy({ category, tag }: Filters) {
  const inCategory = category ? { category, include_children: true } : {};
  return api.offline.list({ ...inCategory, tags: tag ?? [] });
}

async function searchCopy(filters: Filters) {
  const [listed, found] = await Promise.all([listInCopy(filters), api.offline.search(filters.q ?? '')]);
  return { ...found, data: found.data.filter((sound) => listed.includes(sound)) };
}

const orders = { '': 'Recommended', newest: 'Newest', title: 'By title', popular: 'Most played' };

export async function browse() {
  await ready;
  // Keep the search in the address, so that Back restores it.
  const asked = new URLSearchParams(location.hash.split('?')[1]);
  const select = (name: string, ariaLabel: string, options: Record<string, string>) => {
    const made = Object.entries(options).map(([value, text]) => new Option(text, value));
    const element = el('select', { name, ariaLabel }, ...made);
    element.value = asked.get(name) ?? '';
    return element;
  };
  const names: Record<string, string> = { '': 'All' };
  for (const parent of categories) {
    names[parent.slug] = parent.name;
    for (const { slug, name } of parent.children) names[slug] = `– ${name}`;
  }
  const category = select('category', 'Category', names);
  const order = select('sort', 'Order', orders);
  const value = asked.get('q') ?? '';
  const search = el('input', { type: 'search', name: 'q', value, ariaLabel: 'Search sounds' });
  search.placeholder = 'Search';
  const chosen = asked.getAll('tag');
  const chips = [...new Set([...chosen, ...tags])].map((value) => {
    const box = el('input', { type: 'checkbox', name: 'tag', value, checked: chosen.includes(value) });
    return el('label', { className: 'chip' }, box, value);
  });
  const top = el('div', { className: 'filters' }, search, category, order);
  const form = el('form', {}, top, el('div', { className: 'chips' }, ...chips));
  const correction = el('p', { role: 'status' });
  const results = el('div');
  let last = new AbortController();
  let pause = 0;
  const show = () => {
    last.abort();
    last = new AbortController();
    const { signal } = last;
    const q = search.value.trim();
    order.disabled = q !== ''; // a search has a fixed order
    const filters = {
      tag: new FormData(form).getAll('tag'),
      ...(category.value && { category: category.value, include_children: true }),
      ...(q ? { q, limit: 100 } : { limit: 20, ...(order.value && { sort: order.value }) }),
    } as Filters;
    async function* list() {
      yield* copyInUse() ? await listInCopy(filters) : api.sounds.list(filters, { signal });
    }
    async function* find() {
      const found = copyInUse() ? await searchCopy(filters) : await api.sounds.page(filters, { signal });
      if (signal.aborted) return;
      correction.textContent = found.corrected_q ? `Showing results for “${found.corrected_q}”.` : '';
      yield* found.data;
    }
    correction.textContent = '';
    const open = q ? find : list;
    results.replaceChildren(...endlessList(open, item, 'Nothing found.'));
  };
  const change = () => {
    if (!form.isConnected) return; // the user has left the screen
    const query = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
    history.replaceState(null, '', `#/browse?${query}`);
    show();
  };
  form.oninput = () => {
    clearTimeout(pause);
    pause = window.setTimeout(change, 300); // until the user pauses typing
  };
  form.onsubmit = (event) => event.preventDefault();
  show();
  return [form, correction, results];
}

/** Returns the sounds of favorites, history or positions, without hidden sounds, which are null. */
const shown = (list: { sounds: Preview | null }[]) => list.flatMap(({ sounds }) => sounds ?? []);

export async function favoriteSounds() {
  await ready;
  const sounds = shown(await api.offline.favorites());
  if (sounds.length === 0) return ['Nothing yet: the heart of a sound puts it here.'];
  return [el('ul', { className: 'rows' }, ...sounds.map(item))];
}

export function listened() {
  async function* open() {
    if (copyInUse()) return yield* shown(await api.offline.history());
    for await (const entry of api.history.list()) yield* shown([entry]);
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
    row.append(button(icon('close'), remove, { className: 'remove', ariaLabel }));
    return row;
  };
  const list = el('div', {}, ...endlessList(open, entry, 'Nothing yet: sounds that you listen to appear here.'));
  const empty = () => list.replaceChildren(el('p', {}, 'The history is empty.'));
  const clear = () => api.history.clear().then(empty);
  return [button('Clear the history', clear, { className: 'destructive' }), list];
}

export async function soundPage() {
  const id = location.hash.split('/')[2] ?? '';
  await ready;
  const sound = copyInUse() ? await api.offline.get(id) : await api.sounds.get(id);
  if (sound === null) return ['It is not in the copy on this device.'];
  const { title, description, bowl_note, frequency_hz, tags } = sound;
  entitle(title);
  const facts = [...factsOf(sound), bowl_note && `Note ${bowl_note}`, frequency_hz && `${frequency_hz} Hz`];
  const listen = button('Listen', () => play(sound), { className: 'primary' });
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    notify('The address is copied.', 5);
  };
  const hrefOf = (tag: string) => `#/browse?${new URLSearchParams({ tag })}`;
  const chip = (tag: string) => el('a', { className: 'chip', href: hrefOf(tag) }, tag);
  return [
    picture(sound),
    el('p', {}, el('small', {}, facts.filter(Boolean).join(' · '))),
    el('div', { className: 'controls' }, listen, heart(sound), await adder(sound), button('Copy the address', copy)),
    el('p', { dir: 'auto' }, description ?? ''),
    el('div', { className: 'chips' }, ...(tags ?? []).map(chip)),
  ];
}
