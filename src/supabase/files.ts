import { StorageApiError } from '@supabase/supabase-js';
import type { Config } from '../config/config.ts';
import { serverError } from '../errors.ts';
import type { Clients } from './clients.ts';

/** Signs files with the secret key. Read the row that names the file as the caller first, which checks the rights. */
export interface Files {
  /**
   * Returns a signed URL of a file, which grants access without a token, or null when there is no such file.
   * @param path needs no escaping, because constraints on its column allow URL-safe characters only
   * @throws ApiError server_error when Storage fails or does not answer in time
   */
  signUrl(bucket: string, path: string, lifetimeSeconds: number): Promise<string | null>;
  /** Returns signed URLs of files of a bucket by path, in one call; null for a missing file. Throws as signUrl does. */
  signUrls(bucket: string, paths: string[], lifetimeSeconds: number): Promise<Map<string | null, string | null>>;
}

export function createFiles({ supabase: { url, publicUrl } }: Config, { service }: Clients): Files {
  /** Returns null if storage-js made the URL from a response without one. */
  const publicAddress = (signedUrl: string | null) =>
    signedUrl?.includes('/object/sign/') ? signedUrl.replace(url, publicUrl) : null;

  return {
    async signUrl(bucket, path, lifetimeSeconds) {
      const { data, error } = await service.storage.from(bucket).createSignedUrl(path, lifetimeSeconds);
      // Storage reports a missing file in the body of a 400. A response with status 404 is from something else.
      if (error instanceof StorageApiError && error.status === 400 && error.statusCode === '404') return null;
      const signed = publicAddress(data?.signedUrl ?? null);
      if (signed === null) throw serverError(new Error(`Storage did not sign ${bucket}/${path}`, { cause: error }));
      return signed;
    },

    async signUrls(bucket, paths, lifetimeSeconds) {
      if (paths.length === 0) return new Map();
      const { data, error } = await service.storage.from(bucket).createSignedUrls(paths, lifetimeSeconds);
      if (error) throw serverError(new Error(`Storage did not sign files of ${bucket}`, { cause: error }));
      const urls = new Map(data.map(({ path, signedUrl }) => [path, publicAddress(signedUrl)]));
      if (paths.every((path) => urls.has(path))) return urls;
      throw serverError(new Error(`Storage did not answer about each file of ${bucket}`));
    },
  };
}
