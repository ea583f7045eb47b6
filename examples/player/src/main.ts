import { account, forgot, signIn, signUp } from './account.ts';
import { attempt, el, find, notify } from './dom.ts';
import { stop } from './player.ts';
import { browse, favoriteSounds, home } from './screens.ts';
import { sounds } from './sounds.ts';

type Screens = Record<string, () => Node[] | Promise<Node[]>>;

const forGuests: Screens = { '#/signup': signUp, '#/forgot': forgot };
const forUsers: Screens = { '#/browse': browse, '#/favorites': favoriteSounds, '#/account': account };

const main = find('main');
let shown = 0;

async function show() {
  shown += 1;
  const mine = shown;
  const isSignedIn = (await sounds.auth.user()) !== null;
  const screen = isSignedIn ? (forUsers[location.hash] ?? home) : (forGuests[location.hash] ?? signIn);
  find('nav').hidden = !isSignedIn;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a'))
    link.ariaCurrent = link.hash === (location.hash || '#/') ? 'page' : null;
  const content = await screen();
  if (mine !== shown) return; // the user went on meanwhile
  const className = !isSignedIn || screen === account ? 'narrow' : '';
  main.replaceChildren(el('div', { className }, ...content));
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

addEventListener('hashchange', () => {
  notify('');
  void attempt(show);
});
addEventListener('offline', () => notify('No network: favorites are kept, and sent later.'));
addEventListener('online', () => notify(''));

for (const type of ['signedIn', 'signedOut'])
  addEventListener(type, () => {
    stop();
    history.replaceState(null, '', '#/');
    void attempt(show);
  });

void attempt(show);
