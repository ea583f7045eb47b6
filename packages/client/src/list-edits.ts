import type { CallOptions } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import { SoundsError, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import { batchesOf, createListCalls, type Edit, type StoredList } from './list-calls.ts';
import { createListDelivery, inTurn } from './list-delivery.ts';
import type { Content } from './list-merge.ts';
import { createFlush } from './refusal.ts';
import type { Store } from './store.ts';

/** Time limit for sending. A call waits for other tabs for half of it. */
const sendingLimitMs = 60_000;

/** Number of times that a call sends an edit: as it is, then merged with a newer version of the list. */
const rounds = 2;

export const contentOf = ({ name, is_mix, items }: Content): Content => ({ name, is_mix, items });

interface Options {
  api: Pick<Sounds, 'fetch' | 'auth'>;
  store: Store;
  copy: Entries<StoredList>;
  /** Called after each change on the device. */
  changed: () => void;
}

/** Keeps edits of lists until they are sent, and merges those that began from an older state. */
export function createListEdits({ api, store, copy, changed }: Options) {
  const calls = createListCalls(api);
  const unsent = createEntries<Edit>(store, 'lists');
  /**
   * Ids of lists whose edits exceed a maximum of the service. They are not sent again before a save of that list, a
   * removal of any, a change of the user, or a restart.
   */
  const exceeding = new Set<string>();
  /** First error of the last sending for which an edit stays for another reason. */
  let kept: SoundsError | undefined;
  const { flush, refuse } = createFlush(async (options?: CallOptions) => {
    await send(options);
    if (kept) throw kept;
    if (exceeding.size > 0) throw tooMany();
  });
  const keep = (error: SoundsError) => {
    kept ??= error;
  };

  const deliver = createListDelivery({ put: calls.put, unsent, copy, refuse, keep, exceeding });

  /** Sends all edits of a user that do not exceed a maximum. Call it in `exclusively`. */
  async function sendAll(user: string, options?: CallOptions) {
    kept = undefined;
    let ids = Object.keys(await unsent.read(user)).filter((id) => !exceeding.has(id));
    for (let round = 0; round < rounds && ids.length > 0; round += 1) {
      const edits = Object.entries(await unsent.read(user)).filter(([id]) => ids.includes(id));
      edits.sort(([, a], [, b]) => Number(a.mine !== null) - Number(b.mine !== null)); // removals first make room
      ids = await inTurn(batchesOf(edits), (batch) => deliver(user, batch, options));
      changed();
    }
    if (ids.length > 0) keep(outrun());
  }

  const exclusively = (user: string, task: () => Promise<void>, options?: CallOptions) =>
    unsent.sending(user, sendingLimitMs, task, options?.signal);

  async function send(options?: CallOptions): Promise<void> {
    const user = (await api.auth.user())?.id;
    if (user !== undefined) await exclusively(user, () => sendAll(user, options), options);
  }

  return {
    ...unsent,
    exceeding,
    send,

    /** Sends unsent edits, and replaces the copy by the lists of the service, while no edit is being sent. */
    sync: (user: string, options?: CallOptions) =>
      exclusively(
        user,
        async () => {
          await sendAll(user, options);
          const lists = await calls.get(user, options);
          await copy.replace(user, Object.fromEntries(lists.map((list) => [list.id, list])));
          changed();
        },
        options,
      ),

    /** Sends all edits. @throws SoundsError at the end if one was rejected, or stays on the device */
    flush,
  };
}

/** Returns the error of an edit that stays because another device was faster each time. It is sent again later. */
const outrun = () =>
  new SoundsError('Another device was faster.', {
    status: 0,
    code: 'no_answer',
  });
