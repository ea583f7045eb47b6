import { type Content, contentOf, type ListToSave } from './list-content.ts';

/** States of lists that the app has got or saved, because its next edit may begin from one that is in no copy. */
export type SeenStates = Map<string, Content>;

/** Maximum number of keys of states that are remembered. Each state has two keys. */
const maxKeys = 2_000;

/** Returns the key of a state; without `updated_at`, of the newest one of its version. */
export const keyOf = ({ id, version, updated_at }: ListToSave) => `${id} ${version} ${updated_at ?? ''}`;

/** Remembers a state, also as the newest one of its version. */
export function remember(states: SeenStates, list: ListToSave) {
  for (const key of [keyOf(list), keyOf({ ...list, updated_at: undefined })]) {
    states.delete(key); // otherwise it would keep its place, and be the oldest one soon
    states.set(key, contentOf(list));
    const [oldest = ''] = states.keys();
    if (states.size > maxKeys) states.delete(oldest);
  }
}
