import { type CallOptions, dataOf, signalOf } from './call.ts';
import type { Schema } from './schema.ts';
import type { Waiting } from './send.ts';
import { tokenlessClient } from './session.ts';
import { readItem, type Store } from './store.ts';

/** Settings of the service that the screens of an app depend on. */
export interface AppConfig extends Omit<Schema<'AppConfig'>, 'settings'> {
  /** Settings of the operator. Keys that the schema does not list can have any JSON value. */
  settings: Schema<'AppSettings'> & Record<string, unknown>;
}

const key = 'sounds.config';

/** Minimum size of a small cover in pixels, for rows of a list on a dense screen. */
const smallCover = 256;

/** Creates functions that load the settings of the service. */
export function createConfig({ url, store, waiting }: { url: string; store: Store; waiting: Waiting }) {
  let known: AppConfig | null = null;
  let asking: Promise<unknown> | undefined;

  /** Reads the settings of an earlier start from the store. */
  async function restore(): Promise<void> {
    if (!known) known = (await readItem<AppConfig>(store, key).catch(() => null)) ?? known;
  }
  void restore();

  async function ask(options?: CallOptions): Promise<AppConfig> {
    await restore();
    // Do not wait for a network if the settings of an earlier start are stored.
    const tokenless = tokenlessClient(url, waiting, known === null);
    try {
      known = (await dataOf(tokenless.GET('/config', signalOf(options)))) as AppConfig;
      await store.setItem(key, JSON.stringify(known));
    } catch (error) {
      if (known === null || options?.signal?.aborted) throw error;
    }
    return known;
  }

  async function covers() {
    if (known) return;
    asking ??= ask()
      .catch(() => {})
      .finally(() => {
        asking = undefined;
      });
    await asking;
  }

  return {
    ask,
    restore,

    /** Settles like a call, but waits until the settings that `coverUrl` needs are loaded or have failed to load. */
    async withCovers<T>(call: Promise<T>): Promise<T> {
      const [result] = await Promise.all([call, covers()]);
      return result;
    },

    coverUrl({ cover_image_url: path }: { cover_image_url: string | null }, { small = false } = {}): string | null {
      if (path === null || path.startsWith('http')) return path;
      if (!known?.storage_url) return null;
      const { storage_url, cover_sizes } = known;
      const size = small && cover_sizes?.sizes.find((each) => each >= smallCover);
      if (!cover_sizes || !size) return storage_url + path;
      return cover_sizes.template.replace('{path}', () => path).replace(/\{size\}/g, String(size));
    },
  };
}
