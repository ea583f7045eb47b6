import type { Device } from 'sounds-client';
import { api } from './api.ts';
import { button, el, notify } from './dom.ts';

/** Lists where the user is signed in, with buttons that sign out there. */
export async function devices() {
  const data = await api.devices.list();
  const leave = (...rows: HTMLElement[]) => {
    for (const row of rows) row.remove();
    all.hidden = list.children.length < 2;
    list.focus();
    notify('Signed out there. Access may last up to an hour.', 10);
  };
  const item = ({ id, last_used_at, user_agent, is_current }: Device) => {
    const name = user_agent ?? 'Unknown device';
    const used = `Last used ${new Date(last_used_at).toLocaleString()}`;
    const text = el('span', { className: 'track' }, name, el('small', {}, is_current ? 'This device' : used));
    const signOut = () => api.devices.end(id).then(() => leave(row));
    const there = button('Sign out', signOut, { ariaLabel: `Sign out: ${name}, ${used}` });
    const row = el('li', {}, text, ...(is_current ? [] : [there]));
    return row;
  };
  const list = el('ul', { className: 'rows', tabIndex: -1, ariaLabel: 'Devices' }, ...data.map(item));
  const others = () => [...list.children].filter((_, at) => !data[at]?.is_current) as HTMLElement[];
  const all = button('Sign out on all other devices', () => api.devices.endOthers().then(() => leave(...others())));
  all.hidden = data.length < 2;
  return [list, all];
}
