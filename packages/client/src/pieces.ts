import type { Store } from './stored-items.ts';

/** Creates a store that divides texts into pieces of a length. The item under a key then names the pieces. */
export function createPieces(store: Store, maxLength: number): Store {
  /** Returns the keys of the pieces that the text under a key names, and their total length. */
  function piecesOf(key: string, text: string | null) {
    const [, run = '', count = 0, length = 0] = /^pieces (\w) (\d+) (\d+)$/.exec(text ?? '') ?? [];
    return { run, length: +length, keys: Array.from({ length: +count }, (_, n) => `${key}.${run}${n}`) };
  }

  async function replace(key: string, write: (lastRun: string) => unknown) {
    const { run, keys } = piecesOf(key, await store.getItem(key));
    await write(run);
    for (const old of keys) await store.removeItem(old);
  }

  return {
    async getItem(key) {
      const { keys, length } = piecesOf(key, await store.getItem(key));
      const joined = (await Promise.all(keys.map((piece) => store.getItem(piece)))).join('');
      if (joined.length !== length) throw new Error(`A piece of ${key} is missing.`);
      return joined;
    },
    setItem: (key, text) =>
      replace(key, async (lastRun) => {
        const pieces = text.match(new RegExp(`.{1,${maxLength}}`, 'gsu')) ?? [];
        if (pieces.length < 2) return store.setItem(key, text);
        // Keep the pieces of the last text until the new one is complete.
        const run = lastRun === 'a' ? 'b' : 'a';
        for (const [n, piece] of pieces.entries()) await store.setItem(`${key}.${run}${n}`, piece);
        return store.setItem(key, `pieces ${run} ${pieces.length} ${text.length}`);
      }),
    removeItem: (key) => replace(key, () => store.removeItem(key)),
  };
}
