import type { Api } from './api.ts';
import { answer, type CallOptions, signalOf } from './call.ts';
import { type CatalogueCopy, type Copy, emptyCopy, kinds } from './catalogue-copy.ts';
import type { Parts } from './parts.ts';
import { createSharedRun } from './shared-run.ts';
import type { Store } from './store.ts';
import { pause } from './wait.ts';

export interface OfflineOptions extends Parts {
  /** Store for copies. */
  copies: Store;
  /** Updates the copies of favorites, history and positions. */
  refresh: (options?: CallOptions) => Promise<void>;
}

/** Number of pages after which the whole copy is stored, because storing takes longer than requesting a page. */
const pagesBetweenStores = 5;

/** Share of the user's request limit that a long update leaves free for the app. */
const shareOfUser = 1 / 2;

interface UpdateOptions extends OfflineOptions {
  catalogue: CatalogueCopy;
  /** Loads the code that reads the copy, so that reading needs no network later. */
  loadReaders: () => Promise<unknown>;
  /** Called when the copy of the catalogue is complete. */
  notify: () => void;
}

/** Creates a function that updates the copies of the catalogue and of the user's collections. */
export const createUpdate = ({ catalogue, restore, refresh, loadReaders, notify, ...parts }: UpdateOptions) =>
  createSharedRun(async (options) => {
    await restore();
    await updateCatalogue(parts, catalogue, options);
    await loadReaders();
    notify();
    await refresh(options);
  });

/** Gets all changes of the catalogue. */
async function updateCatalogue(
  { api, waiting }: Pick<Parts, 'api' | 'waiting'>,
  { load, save }: CatalogueCopy,
  options?: CallOptions,
): Promise<void> {
  // Change a clone, so that the copy stays unchanged until the clone is stored.
  const copy: Copy = JSON.parse(JSON.stringify(await load()));
  for (let pages = 1; await readPage(api, copy, options); pages++) {
    const pauseMs = waiting.service.pauseMs(shareOfUser);
    if (pauseMs > 0 || pages % pagesBetweenStores === 0) await save(copy);
    if (pauseMs > 0) await pause(pauseMs, options?.signal);
  }
  copy.syncedAt = Date.now();
  await save(copy);
}

/** Applies one page of changes to the copy. @returns true if there are more */
async function readPage(api: Api, copy: Copy, options?: CallOptions): Promise<boolean> {
  const query = copy.next === null ? {} : { since: copy.next };
  const asked = api.GET('/catalogue/changes', { params: { query }, ...signalOf(options) });
  const { data, next, has_more, reset } = await answer(asked);
  if (reset) Object.assign(copy, emptyCopy());
  for (const change of data) {
    if (!kinds.includes(change.kind)) continue;
    const rows: Record<string, unknown> = copy[change.kind];
    const row = change[change.kind];
    if (row === null) delete rows[change.id];
    else rows[change.id] = row;
  }
  copy.next = next;
  return has_more;
}
