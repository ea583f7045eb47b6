import type { Api } from './api.ts';
import { answer, type CallOptions, dataOf, signalOf } from './call.ts';
import type { paths } from './document.types.ts';
import { locked } from './error.ts';
import { entriesOfPages } from './pages.ts';
import type { Parts } from './parts.ts';
import type { Schema } from './schema.ts';

/** Maximum number of sounds in one call of `POST /sounds/files`. */
const filesAtOnce = 50;

/** Matches ids that can be sent together. The service rejects all ids of a request if one is malformed. */
export const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A sound in a list. */
export interface Sound extends Schema<'Sound'> {}

/** A sound with the signed addresses of its audio and its cover. */
export interface SoundDetail extends Schema<'SoundDetail'> {}

/** The files of a sound, for a download. */
export interface SoundFiles extends Schema<'SoundFiles'> {}

/** Query parameters of GET /sounds. */
export interface Filters extends NonNullable<paths['/sounds']['get']['parameters']['query']> {}

/** One page of a list. */
export interface Page {
  data: Sound[];
  next_cursor: string | null;
  /** Text of a search with corrected words. Present only if `data` are the sounds for it. */
  corrected_q?: string;
}

/** The address of a sound's audio, which is valid for five minutes. */
export interface Audio {
  /** Id of the sound. */
  id: string;
  /** Null when there is no audio. */
  url: string | null;
  /** Time on the clock of this device. */
  expiresAt: Date;
  /** Returns a new address. Call it once after a 4xx from `url`, and continue at the same position. */
  renew: (options?: CallOptions) => Promise<Audio>;
}

type Preview = Schema<'SoundPreview'>;

/** Returns the fields of a sound that favorites and the history contain. */
export function previewOf(sound: Preview): Preview {
  const { id, title, category, cover_image_url, duration_sec, cover_placeholder, is_premium } = sound;
  return { id, title, category, cover_image_url, duration_sec, cover_placeholder, is_premium };
}

/** Sounds, and the addresses of their files. */
export interface Catalogue extends ReturnType<typeof createCatalogue> {}

export function createCatalogue(api: Api, withCovers: Parts['withCovers']) {
  const page = (query: Filters = {}, options?: CallOptions): Promise<Page> =>
    withCovers(answer(api.GET('/sounds', { params: { query }, ...signalOf(options) })));

  const get = (id: string, options?: CallOptions): Promise<SoundDetail> =>
    dataOf(api.GET('/sounds/{id}', { params: { path: { id } }, ...signalOf(options) }));

  async function audio(id: string, options?: CallOptions): Promise<Audio> {
    const { audio_url, audio_url_expires_in, is_locked } = await get(id, options);
    if (is_locked) throw locked();
    return {
      id,
      url: audio_url,
      expiresAt: new Date(Date.now() + audio_url_expires_in * 1000),
      renew: (renewing) => audio(id, renewing),
    };
  }

  return {
    /** Returns one page. Pass its `next_cursor` as `cursor` with the same filters for the next, until it is null. */
    page,

    /** Lists all sounds. Each page is requested when it is needed. */
    list: (filters: Filters = {}, options?: CallOptions): AsyncGenerator<Sound, void> =>
      entriesOfPages((cursor) => page({ ...filters, ...(cursor && { cursor }) }, options), filters.cursor),

    /**
     * Lists the signed addresses of the files of any number of sounds, for downloads. Requests 50 sounds at a time,
     * when they are needed, because the addresses are valid for five minutes.
     */
    async *files(ids: readonly string[], options?: CallOptions): AsyncGenerator<SoundFiles, void> {
      for (let first = 0; first < ids.length; first += filesAtOnce) {
        const body = { ids: ids.slice(first, first + filesAtOnce) };
        yield* await dataOf(api.POST('/sounds/files', { body, ...signalOf(options) }));
      }
    },

    /** Returns one sound, with `audio_url` and `cover_image_url` signed for five minutes. */
    get,

    /**
     * Returns the address of a sound's audio. Call it right before playback; do not store the address.
     * @throws SoundsError with the reason `locked` if the sound is premium and the user has no premium
     */
    audio,
  };
}
