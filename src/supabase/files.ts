import { StorageApiError } from '@supabase/supabase-js';
import type { Config } from '../config.ts';
import { serverError } from '../errors.ts';
import type { Clients } from './clients.ts';

/** Signs files with the secret key. Read the row that names the file as the caller first, which checks the rights. */
export function createFiles({ supabase: { url, publicUrl } }: Config, { service }: Clients) {
  /** Returns null if storage-js made the URL from a response without one. */
  const publicAddress = (signedUrl: string | null) =>
    signedUrl?.includes('/object/sign/') ? signedUrl.replace(url, publicUrl) : null;

  return {
    /**
     * Returns a signed URL of a file. It grants access without a token.
     * @param path needs no escaping, because constraints on its column allow URL-safe characters only
     * @returns null when there is no such file
     * @throws ApiError server_error when Storage fails or does not answer in time
     */
    async signUrl(bucket: string, path: string, lifetimeSeconds: number): Promise<string | null> {
      const { data, error } = await service.storage.from(bucket).createSignedUrl(path, lifetimeSeconds);
      // Storage reports a missing file in the body of a 400. A response with status 404 is from something else.
      if (error instanceof StorageApiError && error.status === 400 && error.statusCode === '404') return null;
      const signed = publicAddress(data?.signedUrl ?? null);
      if (signed === null) throw serverError(new Error(`Storage did not sign ${bucket}/${path}`, { cause: error }));
      return signed;
    },

    /** Returns signed URLs of files of one bucket, by path, in one call. A file that is missing in Storage has null. */
    async signUrls(bucket: string, paths: string[], lifetimeSeconds: number) {
      if (paths.length === 0) return new Map<string | null, null>();
      const { data, error } = await service.storage.from(bucket).createSignedUrls(paths, lifetimeSeconds);
      if (error) throw serverError(new Error(`Storage did not sign files of ${bucket}`, { cause: error }));
      const urls = new Map(data.map(({ path, signedUrl }) => [path, publicAddress(signedUrl)]));
      if (paths.every((path) => urls.has(path))) return urls;
      throw serverError(new Error(`Storage did not answer about each file of ${bucket}`));
    },
  };
}

export type Files = ReturnType<typeof createFiles>;
