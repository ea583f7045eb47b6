import { StorageApiError } from '@supabase/supabase-js';
import type { Config } from '../config.ts';
import { serverError } from '../errors.ts';
import type { Clients } from './clients.ts';

/** Files of the project. They are signed with the secret key, after the row that names them came back as the caller's. */
export function createFiles({ supabase: { url, publicUrl } }: Config, { service }: Clients) {
  /** storage-js makes an address also of an answer that has none. */
  const publicAddress = (signedUrl: string | null) =>
    signedUrl?.includes('/object/sign/') ? signedUrl.replace(url, publicUrl) : null;

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
      const signed = publicAddress(data?.signedUrl ?? null);
      if (signed === null)
        throw serverError(new Error(`Storage did not sign ${bucket}/${path}`, { cause: error }));
      return signed;
    },

    /** The same for files of one bucket, by one call; those without an address are missing in Storage. */
    async signUrls(bucket: string, paths: string[], lifetimeSeconds: number) {
      if (paths.length === 0) return new Map<string | null, null>();
      const { data, error } = await service.storage.from(bucket).createSignedUrls(paths, lifetimeSeconds);
      if (error) throw serverError(new Error(`Storage did not sign files of ${bucket}`, { cause: error }));
      return new Map(data.map(({ path, signedUrl }) => [path, publicAddress(signedUrl)]));
    },
  };
}

export type Files = ReturnType<typeof createFiles>;
