import { el } from './dom.ts';

const lengths = [0, 5, 15, 30, 60];

/** Returns a selection of times after which `end` is called. */
export function sleepTimer(end: () => void, ariaLabel: string) {
  const options = lengths.map((length) => new Option(length ? `${length} min` : 'No timer', `${length}`));
  const sleep = el('select', { ariaLabel }, ...options);
  let timer = 0;
  sleep.onchange = () => {
    clearTimeout(timer);
    const stop = () => {
      sleep.value = '0';
      end();
    };
    if (sleep.value !== '0') timer = window.setTimeout(stop, Number(sleep.value) * 60_000);
  };
  return sleep;
}
