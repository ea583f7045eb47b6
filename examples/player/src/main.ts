import type { User } from 'sounds-client';
import { account, deletion, premium } from './account.ts';
import { api } from './api.ts';
import { browse } from './browse.ts';
import { restored } from './copy.ts';
import { el, entitle, fill, find, notify } from './dom.ts';
import { allLists, listPage } from './lists.ts';
import { stopMix } from './mix.ts';
import { handOver, stop } from './player.ts';
import { favoriteSounds, home, listened, soundPage } from './screens.ts';
import { forgot, signIn, signUp } from './sign-in.ts';
import { texts, waitText } from './texts.ts';
import './bar.ts';
import './lock-screen.ts';

interface Screen {
  title: string;
  make: Parameters<typeof fill>[1];
  isNarrow?: true;
}

const withoutSession: Record<string, Screen> = {
  '#/': { title: 'Sign in', make: signIn, isNarrow: true },
  '#/signup': { title: 'Create an account', make: signUp, isNarrow: true },
  '#/forgot': { title: 'Forgot your password?', make: forgot, isNarrow: true },
};
/** Screens that lead a guest to an account. */
const forGuests: Record<string, Screen> = {
  '#/signin': { title: 'Sign in', make: signIn, isNarrow: true },
  '#/signup': { title: 'Create an account', make: signUp, isNarrow: true },
  '#/forgot': { title: 'Forgot your password?', make: forgot, isNarrow: true },
};
const forUsers: Record<string, Screen> = {
  '#/': { title: 'Listen', make: home },
  '#/browse': { title: 'Browse', make: browse },
  '#/sound': { title: 'Sound', make: soundPage, isNarrow: true },
  '#/favorites': { title: 'Favorites', make: favoriteSounds },
  '#/lists': { title: 'Lists', make: allLists },
  '#/list': { title: 'List', make: listPage },
  '#/history': { title: 'History', make: listened },
  '#/account': { title: 'Account', make: account, isNarrow: true },
  '#/premium': { title: 'Premium', make: premium, isNarrow: true },
  '#/account/delete': { title: 'Delete the account', make: deletion, isNarrow: true },
};

const main = find('main');

/** User to whom the page is shown. */
let viewer: User | null = null;

async function show() {
  const path = (location.hash.split('?')[0] || '#/').replace(/^(#\/(sound|list))\/.+/, '$1');
  const user = await api.auth.user();
  viewer = user;
  const isSignedIn = user !== null;
  const screens = isSignedIn ? { ...(user.isGuest && forGuests), ...forUsers } : withoutSession;
  const { title, make, isNarrow } = screens[path] ?? (screens['#/'] as Screen);
  find('nav').hidden = !isSignedIn;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a'))
    link.ariaCurrent = link.hash === path ? 'page' : null;
  const place = el('div');
  main.className = isNarrow ? 'narrow' : '';
  main.replaceChildren(el('h1'), place);
  entitle(title);
  main.focus({ preventScroll: true });
  main.scrollTop = 0;
  await fill(place, make);
}

for (const event of ['hashchange', 'offline', 'online']) addEventListener(event, () => notify());
addEventListener('hashchange', show);

addEventListener('wait', ({ detail }) => {
  const text = waitText(detail);
  // Keep what is shown when the network is missing, such as the confirmation of a change that is sent later.
  if (text || find('#notice').textContent === '') notify(text, (detail.until.getTime() - Date.now()) / 1000);
});

const signOutTexts = { asked: '', elsewhere: '', ended: texts.session_ended, deleted: 'The account is gone.' };

addEventListener('session', ({ detail: event }) => {
  if (event.type === 'notStored') notify('This browser cannot store the sign-in. Sign in again after a reload.');
  if (event.type === 'notAdopted')
    notify('What you did without an account is not in it yet. The next visit tries again.');
  if (event.type === 'adopted') void show();
  if (event.type !== 'signedIn' && event.type !== 'signedOut') return;
  if (event.type === 'signedIn' && viewer?.isGuest) handOver();
  else {
    stop();
    stopMix();
  }
  // Keep a shared address, so that it is shown after sign-in.
  if (event.type === 'signedOut' || location.hash in { ...withoutSession, ...forGuests })
    history.replaceState(null, '', '#/');
  if (event.type === 'signedOut') notify(signOutTexts[event.reason]);
  void show();
});

/** Shows the operator's message to all users. */
async function showMessage() {
  const { settings } = await api.config();
  find('#message').textContent = settings.message ?? '';
}

/** Lets the page open without a network. Adds the files of the first visit, which were loaded before the worker. */
async function keepPage() {
  await navigator.serviceWorker.register('/worker.js');
  if (navigator.serviceWorker.controller) return;
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  const files = loaded.filter((name) => name.startsWith(location.origin) && !name.includes('/api/'));
  const headers = { Accept: 'text/css,*/*' }; // otherwise npm run dev would return style sheets as scripts
  await (await caches.open('page')).addAll(['/', ...files].map((file) => new Request(file, { headers })));
}

void restored.finally(show);
void showMessage().catch(() => {}); // without a network, before the first settings came
if (navigator.serviceWorker) void keepPage(); // which browsers lack without HTTPS
