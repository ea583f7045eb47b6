import { api, type Preview } from './api.ts';
import { copyInUse, ready } from './copy.ts';
import { picture } from './covers.ts';
import { button, el, entitle, icon, notify } from './dom.ts';
import { heart } from './hearts.ts';
import { adder } from './lists.ts';
import { play } from './player.ts';
import { positions } from './positions.ts';
import { endlessList, factsOf, soundRow } from './rows.ts';

export async function home() {
  const [sections] = await Promise.all([copyInUse() ? api.offline.home() : api.home(), ready]);
  const heard = (await api.progress.list()).filter(({ sound_id }) => positions.has(sound_id));
  const unfinished = { title: 'Continue listening', sounds: shown(heard).slice(0, 6) };
  const filled = [unfinished, ...sections].filter(({ sounds }) => sounds.length > 0);
  const show = ({ title, sounds }: { title: string; sounds: Preview[] }) => [
    el('h2', { dir: 'auto' }, title),
    el('ul', { className: 'cards' }, ...sounds.map((sound) => soundRow(sound, sounds))),
  ];
  return filled.length > 0 ? filled.flatMap(show) : ['There are no sounds yet.'];
}

/** Returns the sounds of favorites, history or positions, without hidden sounds, which are null. */
const shown = (list: { sounds: Preview | null }[]) => list.flatMap(({ sounds }) => sounds ?? []);

export async function favoriteSounds() {
  await ready;
  const sounds = shown(await api.offline.favorites());
  if (sounds.length === 0) return ['Nothing yet: the heart of a sound puts it here.'];
  return [el('ul', { className: 'rows' }, ...sounds.map((sound) => soundRow(sound, sounds)))];
}

export function listened() {
  async function* open() {
    if (copyInUse()) return yield* shown(await api.offline.history());
    for await (const entry of api.history.list()) yield* shown([entry]);
  }
  const entry: typeof soundRow = (sound, all) => {
    const row = soundRow(sound, all);
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
