import { StorageApiError } from '@supabase/supabase-js';
import type { Config } from '../config.ts';
import { serverError } from '../errors.ts';
import type { Clients } from './clients.ts';

/** Files of the project. They are signed with the secret key, after the row that names them came back as the caller's. */
export function createFiles({ supabase: { url, publicUrl } }: Config, { service }: Clients) {
  return {
    /**
     * A signed address of a stored file, good for anyone who holds it.
     * @param path needs no escaping: constraints on its column allow URL-safe characters only
     * @returns null when there is no such file
     * @throws ApiError server_error when Storage fails or does not answer in time
     */
    async signUrl(bucket: string, path: string, lifetimeSeconds: number): Promise<string | null> {
      const { data, error } = await service.storage.from(bucket).createSignedUrl(path, lifetimeSeconds);
      // Storage names a missing file in the body of a 400.
      if (error instanceof StorageApiError && error.statusCode === '404') return null;
      // storage-js makes an address also of an answer that has none.
      if (error || !data.signedUrl.includes('/object/sign/'))
        throw serverError(new Error(`Storage did not sign ${bucket}/${path}`, { cause: error }));
      return data.signedUrl.replace(url, publicUrl);
    },
  };
}

export type Files = ReturnType<typeof createFiles>;
