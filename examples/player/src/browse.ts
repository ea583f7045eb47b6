import type { Filters } from 'sounds-client';
import { api } from './api.ts';
import { categories, copyInUse, ready, tags } from './copy.ts';
import { el } from './dom.ts';
import { endlessList, soundRow } from './rows.ts';

/** Time without typing after which the search starts. */
const typingPauseMs = 300;

const orders = { '': 'Recommended', newest: 'Newest', title: 'By title', popular: 'Most played' };

/** Shows the sounds that match a form. Keeps the form in the address, so that Back restores it. */
export async function browse() {
  await ready;
  const fields = createFields(new URLSearchParams(location.hash.split('?')[1]));
  const { form, order } = fields;
  const correction = el('p', { role: 'status' });
  const results = el('div');
  let last = new AbortController();
  let timer = 0;

  function show() {
    last.abort();
    last = new AbortController();
    const { signal } = last;
    const filters = filtersOf(fields);
    order.disabled = filters.q !== undefined; // a search has a fixed order
    correction.textContent = '';
    const open = () => (filters.q ? found(filters, signal, correction) : listed(filters, signal));
    results.replaceChildren(...endlessList(open, soundRow, 'Nothing found.'));
  }

  function change() {
    if (!form.isConnected) return; // the user has left the screen
    const query = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
    history.replaceState(null, '', `#/browse?${query}`);
    show();
  }

  form.oninput = () => {
    clearTimeout(timer);
    timer = window.setTimeout(change, typingPauseMs);
  };
  form.onsubmit = (event) => event.preventDefault();
  show();
  return [form, correction, results];
}

/** Creates the form of the search with the values of an address. */
function createFields(asked: URLSearchParams) {
  const select = (name: string, ariaLabel: string, options: Record<string, string>) => {
    const made = Object.entries(options).map(([value, text]) => new Option(text, value));
    const element = el('select', { name, ariaLabel }, ...made);
    element.value = asked.get(name) ?? '';
    return element;
  };
  const value = asked.get('q') ?? '';
  const search = el('input', { type: 'search', name: 'q', value, ariaLabel: 'Search sounds', placeholder: 'Search' });
  const category = select('category', 'Category', categoryNames());
  const order = select('sort', 'Order', orders);
  const chosen = asked.getAll('tag');
  const chips = [...new Set([...chosen, ...tags])].map((value) => {
    const box = el('input', { type: 'checkbox', name: 'tag', value, checked: chosen.includes(value) });
    return el('label', { className: 'chip' }, box, value);
  });
  const top = el('div', { className: 'filters' }, search, category, order);
  const form = el('form', {}, top, el('div', { className: 'chips' }, ...chips));
  return { form, search, category, order };
}

/** Returns the names of all categories by their slugs, children under their parents. */
function categoryNames() {
  const names: Record<string, string> = { '': 'All' };
  for (const parent of categories) {
    names[parent.slug] = parent.name;
    for (const { slug, name } of parent.children) names[slug] = `– ${name}`;
  }
  return names;
}

/** Returns the filters that the user has chosen. `q` is undefined without a search. */
function filtersOf({ form, search, category, order }: ReturnType<typeof createFields>) {
  const q = search.value.trim();
  return {
    tag: new FormData(form).getAll('tag'),
    ...(category.value && { category: category.value, include_children: true }),
    ...(q ? { q, limit: 100 } : { limit: 20, ...(order.value && { sort: order.value }) }),
  } as Filters;
}

/** Lists sounds without a search. */
async function* listed(filters: Filters, signal: AbortSignal) {
  yield* copyInUse() ? await listInCopy(filters) : api.sounds.list(filters, { signal });
}

/** Searches sounds. @param correction element that shows which corrected words were searched */
async function* found(filters: Filters, signal: AbortSignal, correction: HTMLElement) {
  const { corrected_q, data } = copyInUse() ? await searchCopy(filters) : await api.sounds.page(filters, { signal });
  if (signal.aborted) return;
  correction.textContent = corrected_q ? `Showing results for “${corrected_q}”.` : '';
  yield* data;
}

function listInCopy({ category, tag }: Filters) {
  const inCategory = category ? { category, include_children: true } : {};
  return api.offline.list({ ...inCategory, tags: tag ?? [] });
}

async function searchCopy(filters: Filters) {
  const [listed, found] = await Promise.all([listInCopy(filters), api.offline.search(filters.q ?? '')]);
  return { ...found, data: found.data.filter((sound) => listed.includes(sound)) };
}
