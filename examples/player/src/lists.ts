import type { SavedList } from 'sounds-client/lists';
import { lists, type Preview } from './api.ts';
import { ready } from './copy.ts';
import { button, el, entitle, form, icon, notify } from './dom.ts';
import { openItems, setVolume, startMix, stopMix } from './mix.ts';
import { play } from './player.ts';
import { isLocked } from './premium.ts';
import { soundRow } from './rows.ts';
import { textOf } from './texts.ts';

/** Time limit for the lists of other devices, because the user waits for the screen. */
const syncLimitMs = 1_500;

const addressOf = (id: string) => `#/list/${id}`;

const kindOf = ({ is_mix, items }: SavedList) =>
  `${is_mix ? 'Mix' : 'Playlist'} · ${items.length} ${items.length === 1 ? 'sound' : 'sounds'}`;

const findList = async (id: string) => (await lists.all()).find((list) => list.id === id);

/** Applies an edit to the current state of a list. Shows the reason if the service rejects it. */
async function change(id: string, edit: (list: SavedList) => Pick<SavedList, 'items'>) {
  const list = await findList(id);
  if (!list) return;
  await lists.save({ ...list, ...edit(list) });
  if (navigator.onLine) void lists.flush().catch((error) => notify(textOf(error)));
}

async function make({ name = '', mix }: Record<string, string>) {
  const id = crypto.randomUUID();
  await lists.save({ id, name: name.trim(), is_mix: mix !== undefined, items: [], version: 0 });
  location.hash = addressOf(id);
}

export async function allLists() {
  await ready;
  await lists.sync({ signal: AbortSignal.timeout(syncLimitMs) }).catch(() => {}); // otherwise those of this device
  const row = (list: SavedList) => {
    const name = el('strong', { dir: 'auto' }, list.name);
    return el(
      'li',
      {},
      el('a', { className: 'listen', href: addressOf(list.id) }, name, el('small', {}, kindOf(list))),
    );
  };
  const rows = (await lists.all()).map(row);
  const name = { name: 'name', label: 'Name of a new list', maxLength: 100, pattern: '.*\\S.*' };
  const kind = { name: 'mix', label: 'Mix: all sounds at once', type: 'checkbox', required: false };
  const found = rows.length > 0 ? el('ul', { className: 'rows' }, ...rows) : 'No lists yet: make one, and add sounds.';
  return [found, form([name, kind], 'Make the list', make)];
}

/** Returns a selection that adds a sound to a list. */
export async function adder(sound: Preview) {
  const all = await lists.all();
  const options = [['', 'Add to a list …'], ...all.map(({ id, name }) => [id, name]), ['new', 'A new list …']];
  const select = el('select', { ariaLabel: 'Add to a list' });
  select.append(...options.map(([value, text]) => new Option(text, value)));
  const added = { sound_id: sound.id, volume: null, sounds: sound };
  const add = ({ items }: SavedList) => ({
    items: items.some(({ sound_id }) => sound_id === sound.id) ? items : [...items, added],
  });
  select.onchange = async () => {
    const id = select.value;
    select.value = '';
    if (id === 'new') location.hash = '#/lists';
    else
      await change(id, add).then(
        () => notify('The sound is in the list.', 5),
        (error) => notify(textOf(error)),
      );
  };
  return select;
}

export async function listPage() {
  const id = location.hash.split('/')[2] ?? '';
  await ready;
  const list = await findList(id);
  if (!list) return ['The list is no longer there.'];
  entitle(list.name);
  const remove = async () => {
    stopMix();
    await lists.remove(id);
    location.hash = '#/lists';
  };
  const rows = list.items.flatMap(({ sounds, volume }) => (sounds ? [rowOf(list, sounds, volume)] : []));
  const listen = button('Play', () => playList(id), { className: 'primary', ariaLabel: `Play ${list.name}` });
  return [
    el('p', {}, el('small', {}, kindOf(list))),
    el('div', { className: 'controls' }, listen, button('Delete the list', remove, { className: 'destructive' })),
    el('ul', { className: 'rows items' }, ...rows),
    ...(rows.length > 0 ? [] : ['No sounds yet: the page of a sound adds it.']),
  ];
}

async function playList(id: string) {
  const list = await findList(id);
  const sounds = list ? openItems(list).flatMap(({ sounds }) => sounds ?? []) : [];
  const [first] = sounds;
  if (!list || !first) return notify('There is no sound in the list that can be played.', 5);
  if (list.is_mix) return startMix(list);
  stopMix();
  return play(first, sounds);
}

/** Returns the entry of a sound in a list, with its volume in a mix. */
function rowOf({ id, is_mix, items }: SavedList, sound: Preview, volume: number | null) {
  const sounds = items.flatMap((each) => each.sounds ?? []);
  const row = soundRow(sound, is_mix ? [sound] : sounds);
  row.querySelector('.heart')?.remove();
  const remove = async () => {
    await change(id, (list) => ({ items: list.items.filter(({ sound_id }) => sound_id !== sound.id) }));
    setVolume(sound.id, 0);
    row.remove();
  };
  row.append(button(icon('close'), remove, { className: 'remove', ariaLabel: `Remove from the list: ${sound.title}` }));
  if (is_mix && !isLocked(sound)) row.append(slider(id, sound, volume));
  return row;
}

function slider(listId: string, sound: Preview, volume: number | null) {
  const value = String(volume ?? 1);
  const range = el('input', { type: 'range', max: '1', step: '0.05', ariaLabel: `Volume: ${sound.title}` });
  range.value = value;
  range.oninput = () => setVolume(sound.id, Number(range.value));
  const keep = ({ items }: SavedList) => ({
    items: items.map((each) => (each.sound_id === sound.id ? { ...each, volume: Number(range.value) } : each)),
  });
  range.onchange = () => void change(listId, keep).catch((error) => notify(textOf(error)));
  return range;
}
