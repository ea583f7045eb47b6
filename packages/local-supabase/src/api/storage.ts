import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { isStudio } from './access.ts';
import { downloadAsCaller, downloadPublic, downloadSigned } from './download.ts';
import { list } from './list.ts';
import { copy, move } from './relocate.ts';
import { remove } from './remove.ts';
import { resumablePath, resumableUploads } from './resumable.ts';
import { signMany, signOne } from './signing.ts';
import { type Storage, storageCaller } from './storage-caller.ts';
import { invalidRequest, StorageError } from './storage-errors.ts';
import { upload } from './upload.ts';
import { forLite } from './user-tokens.ts';

type Handler = (storage: Storage, c: Context, bucket: string, name: string) => Promise<Response>;

const downloadMethods = ['GET', 'HEAD'];

// The first matching route handles a request. Lite handles all others, such as those for buckets.
const routes: [methods: string[], path: RegExp, handler: Handler][] = [
  [['POST'], /^\/object\/list\/([^/]+)$/, list],
  [['POST'], /^\/object\/sign\/([^/]+)$/, signMany],
  [['POST'], /^\/object\/sign\/([^/]+)\/(.+)$/, signOne],
  [downloadMethods, /^\/object\/sign\/([^/]+)\/(.+)$/, downloadSigned],
  [downloadMethods, /^\/object\/public\/([^/]+)\/(.+)$/, downloadPublic],
  [downloadMethods, /^\/object\/(?:authenticated\/|(?!info\/))([^/]+)\/(.+)$/, downloadAsCaller],
  [['POST'], /^\/object\/move$/, move],
  [['POST'], /^\/object\/copy$/, copy],
  [['POST', 'PUT'], /^\/object\/([^/]+)\/(.+)$/, upload],
  [['DELETE'], /^\/object\/([^/]+)\/(.+)$/, remove],
];

/** Signs, serves and receives objects as Supabase Storage does. */
export function storageRoutes(storage: Storage): MiddlewareHandler<HonoContext> {
  const resumable = resumableUploads(storage);
  return async (c, next) => {
    const path = new URL(c.req.url).pathname.replace(/^\/storage\/v1/, '');
    if (!c.req.path.startsWith('/storage/v1/')) return next();
    try {
      if (c.req.path.startsWith(resumablePath)) {
        if (c.req.method !== 'HEAD' && c.req.method !== 'OPTIONS') await storageCaller(c.req.raw.headers);
        return await resumable.handleWeb(c.req.raw);
      }
      for (const [methods, pattern, handler] of routes) {
        const [found, bucket = '', name = ''] = pattern.exec(path) ?? [];
        if (found === undefined || !methods.includes(c.req.method)) continue;
        return await handler(storage, c, decode(bucket), decode(name));
      }
      if (!isStudio(c.req.raw) && path !== '/status') {
        const caller = await storageCaller(c.req.raw.headers);
        if (caller['sub'] !== undefined) c.req.raw = await forLite(c.req.raw, caller);
      }
    } catch (error) {
      if (error instanceof StorageError) return error.toResponse();
      console.error('Storage error:', error);
      return new StorageError(500, 'Internal', 'Internal Server Error', 'InternalError').toResponse();
    }
    return next();
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalidRequest('Invalid path');
  }
}
