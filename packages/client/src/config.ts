import { answer, type CallOptions, signalOf } from './call.ts';
import type { Schema } from './schema.ts';
import type { Waiting } from './send.ts';
import { guestClient } from './session.ts';
import { readItem, type Store } from './store.ts';

/** Settings of the service that the screens of an app depend on. */
export interface AppConfig extends Schema<'AppConfig'> {}

const key = 'sounds.config';

/** Creates functions that load the settings of the service. */
export function createConfig({ url, store, waiting }: { url: string; store: Store; waiting: Waiting }) {
  const repeated = guestClient(url, { repeatable: true, ...waiting });
  const once = guestClient(url, { repeatable: false, ...waiting });
  let known: AppConfig | null = null;
  let asking: Promise<unknown> | undefined;

  async function ask(options?: CallOptions): Promise<AppConfig> {
    known ??= await readItem<AppConfig>(store, key);
    // Do not wait for a network if the settings of an earlier start are stored.
    const guest = known ? once : repeated;
    try {
      known = (await answer(guest.GET('/config', signalOf(options)))).data;
      await store.setItem(key, JSON.stringify(known));
    } catch (error) {
      if (known === null || options?.signal?.aborted) throw error;
    }
    return known;
  }

  return {
    ask,

    /** Loads the settings that `coverUrl` needs. Ignores a failure, so that lists are shown without covers. */
    async covers(): Promise<void> {
      if (known) return;
      asking ??= ask()
        .catch(() => {})
        .finally(() => {
          asking = undefined;
        });
      await asking;
    },

    coverUrl({ cover_image_url }: { cover_image_url: string | null }): string | null {
      if (cover_image_url === null || cover_image_url.startsWith('http')) return cover_image_url;
      return known && known.storage_url + cover_image_url;
    },
  };
}
