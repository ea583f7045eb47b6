import { account, forgot, signIn, signUp } from './account.ts';
import { el, fill, find, notify } from './dom.ts';
import { stop } from './player.ts';
import { browse, favoriteSounds, home, listened } from './screens.ts';
import { emit, on, sounds } from './sounds.ts';
import './bar.ts';
import './media-session.ts';

type Screen = { title: string; make: () => Node[] | Promise<Node[]>; isNarrow?: true };

const forGuests: Record<string, Screen> = {
  '#/': { title: 'Sign in', make: signIn, isNarrow: true },
  '#/signup': { title: 'Create an account', make: signUp, isNarrow: true },
  '#/forgot': { title: 'Forgot your password?', make: forgot, isNarrow: true },
};
const forUsers: Record<string, Screen> = {
  '#/': { title: 'Listen', make: home },
  '#/browse': { title: 'Browse', make: browse },
  '#/favorites': { title: 'Favorites', make: favoriteSounds },
  '#/history': { title: 'History', make: listened },
  '#/account': { title: 'Account', make: account, isNarrow: true },
};

const main = find('main');

async function show() {
  const path = location.hash.split('?')[0] || '#/';
  const isSignedIn = (await sounds.auth.user()) !== null;
  const screens = isSignedIn ? forUsers : forGuests;
  const { title, make, isNarrow } = screens[path] ?? (screens['#/'] as Screen);
  document.title = `${title} – Sounds`;
  find('nav').hidden = !isSignedIn;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a'))
    link.ariaCurrent = link.hash === path ? 'page' : null;
  const place = el('div', { className: isNarrow ? 'narrow' : '' });
  main.replaceChildren(place);
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
  // Where the user went on meanwhile, the place is on no page any more.
  await fill(place, async () => place.replaceChildren(...(await make())));
  emit('player'); // marks what plays in the lists that have come
}

addEventListener('hashchange', () => {
  notify('');
  void show();
});
addEventListener('offline', () => notify('No network: favorites are kept, and sent later.'));
addEventListener('online', () => notify(''));

let waiting = 0;
on('wait', ({ reason, until }) => {
  const seconds = Math.ceil((until.getTime() - Date.now()) / 1000);
  const why = reason === 'limited' ? 'That was too often' : 'The service does not answer';
  if (reason !== 'offline') notify(`${why}: trying again in ${seconds} s.`);
  clearTimeout(waiting);
  waiting = window.setTimeout(() => notify(''), seconds * 1000);
});

on('session', (event) => {
  if (event.type === 'refreshed') return;
  stop();
  history.replaceState(null, '', '#/');
  const isEnded = event.type === 'signedOut' && event.reason === 'ended';
  notify(isEnded ? 'Your session has ended. Sign in again.' : '');
  void show();
});

void show();
