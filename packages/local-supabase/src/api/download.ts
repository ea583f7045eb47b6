import parseRange from 'range-parser';
import type { ObjectFiles } from './objects.ts';
import type { ObjectRow } from './storage-caller.ts';
import { objectNotFound, StorageError } from './storage-errors.ts';

/**
 * Serves an object as Storage does: whole, one byte range of it, or only its headers.
 * @param caching the headers that say how long the answer may be kept; those of the object unless given
 * @throws StorageError when its file is missing, and for a range that it has not
 */
export async function download(
  files: ObjectFiles,
  bucket: string,
  row: ObjectRow,
  request: Request,
  caching: Record<string, string> = { 'Cache-Control': row.metadata?.cacheControl ?? 'no-cache' },
): Promise<Response> {
  const size = await files.size(bucket, row.name);
  if (size === undefined) throw objectNotFound();
  const { eTag = '""', lastModified = 0, mimetype = 'application/octet-stream' } = row.metadata ?? {};
  const wanted = request.headers.get('range');
  const range = wanted === null ? undefined : onlyRange(size, wanted);
  const headers = {
    ...caching,
    ETag: eTag,
    'Last-Modified': new Date(lastModified).toUTCString(),
    'Accept-Ranges': 'bytes',
    'Content-Type': mimetype,
    'Content-Length': String(range ? range.end - range.start + 1 : size),
    ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
  };
  const body = request.method === 'HEAD' ? null : files.read(bucket, row.name, range);
  return new Response(body, { status: range ? 206 : 200, headers });
}

/** @throws StorageError unless it is one range of bytes that the object has */
function onlyRange(size: number, wanted: string): { start: number; end: number } {
  const ranges = parseRange(size, wanted);
  const [range] = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges : [];
  if (!range) throw new StorageError(416, 'invalid_range', 'invalid range provided', 'InvalidRange');
  return range;
}
