import type { Context } from 'hono';
import parseRange from 'range-parser';
import { verifySigned } from './signing.ts';
import { findObject, type ObjectRow, type Storage, storageCaller } from './storage-caller.ts';
import { bucketNotFound, objectNotFound, StorageError } from './storage-errors.ts';

export async function downloadSigned(storage: Storage, c: Context, bucket: string, name: string) {
  const { exp = 0 } = await verifySigned(c, bucket, name);
  // Allow caching for as long as the address is valid.
  const caching = { Expires: new Date(exp * 1000).toUTCString() };
  return serve(storage, c, bucket, await findObject(storage, bucket, name), caching);
}

export async function downloadPublic(storage: Storage, c: Context, bucket: string, name: string) {
  const [found] = await storage.connection.driver`select public from storage.buckets where id = ${bucket}`;
  if (!found?.['public']) throw bucketNotFound();
  return serve(storage, c, bucket, await findObject(storage, bucket, name));
}

export async function downloadAsCaller(storage: Storage, c: Context, bucket: string, name: string) {
  const caller = await storageCaller(c.req.raw.headers);
  const row = await findObject(storage, bucket, name, caller, 'storage.object.get_authenticated');
  return serve(storage, c, bucket, row);
}

/**
 * Serves an object as Storage does: whole, one byte range of it, or only its headers.
 * @param caching caching header. Default: the one of the object
 * @throws StorageError if the file is missing or the range is outside of it
 */
async function serve(
  { files }: Storage,
  c: Context,
  bucket: string,
  row: ObjectRow,
  caching: Record<string, string> = { 'Cache-Control': row.metadata?.cacheControl ?? 'no-cache' },
): Promise<Response> {
  const size = await files.size(bucket, row.name);
  if (size === undefined) throw objectNotFound();
  const { eTag = '""', lastModified = 0, mimetype = 'application/octet-stream' } = row.metadata ?? {};
  const headers = {
    ...caching,
    ETag: eTag,
    'Last-Modified': new Date(lastModified).toUTCString(),
    'Accept-Ranges': 'bytes',
    'Content-Type': mimetype,
    ...attachment(c.req.query('download')),
  };
  if (c.req.header('if-none-match') === eTag) return new Response(null, { status: 304, headers });
  const wanted = c.req.header('range');
  const range = wanted === undefined ? undefined : onlyRange(size, wanted);
  const body = c.req.method === 'HEAD' ? null : files.read(bucket, row.name, range);
  return new Response(body, {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      'Content-Length': String(range ? range.end - range.start + 1 : size),
      ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
    },
  });
}

/** Returns the header with which a browser saves a file under a name. An empty name means the name in the address. */
function attachment(name: string | undefined): Record<string, string> {
  if (name === undefined) return {};
  const encoded = encodeURIComponent(name);
  const named = name === '' ? '' : ` filename=${encoded}; filename*=UTF-8''${encoded};`;
  return { 'Content-Disposition': `attachment;${named}` };
}

/** Parses a range. @throws StorageError unless it is a single byte range within the object */
function onlyRange(size: number, wanted: string): { start: number; end: number } {
  const ranges = parseRange(size, wanted);
  const [range] = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges : [];
  if (!range) throw new StorageError(416, 'invalid_range', 'invalid range provided', 'InvalidRange');
  return range;
}
