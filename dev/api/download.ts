import parseRange from 'range-parser';
import type { ObjectFiles } from './objects.ts';
import type { ObjectRow } from './storage-caller.ts';
import { objectNotFound } from './storage-errors.ts';

/**
 * Serves an object as Storage does: whole, one byte range of it, only its headers, or "not modified".
 * @param caching the headers that say how long the answer may be kept
 * @throws StorageError when its file is missing
 */
export async function download(
  files: ObjectFiles,
  bucket: string,
  row: ObjectRow,
  request: Request,
  caching: Record<string, string>,
): Promise<Response> {
  const size = await files.size(bucket, row.name);
  if (size === undefined) throw objectNotFound();
  const eTag = row.metadata?.eTag ?? '""';
  const lastModified = new Date(row.metadata?.lastModified ?? 0);
  const headers = new Headers({
    ...caching,
    ETag: eTag,
    'Last-Modified': lastModified.toUTCString(),
    'Accept-Ranges': 'bytes',
    'X-Robots-Tag': 'none',
  });
  if (isFresh(request, eTag, lastModified)) return new Response(null, { status: 304, headers });

  headers.set('Content-Type', contentType(row));
  const saveAs = new URL(request.url).searchParams.get('download');
  if (saveAs !== null) headers.set('Content-Disposition', attachment(saveAs));

  const wanted = request.headers.get('range');
  const ranges = wanted === null ? undefined : parseRange(size, wanted);
  if (ranges === -1) {
    return new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${size}` } });
  }
  // Several ranges at once, and what is no range at all, are answered whole.
  const range = Array.isArray(ranges) && ranges.length === 1 ? ranges[0] : undefined;
  headers.set('Content-Length', String(range ? range.end - range.start + 1 : size));
  if (range) headers.set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  const body = request.method === 'HEAD' ? null : files.read(bucket, row.name, range);
  return new Response(body, { status: range ? 206 : 200, headers });
}

function isFresh(request: Request, eTag: string, lastModified: Date): boolean {
  const tags = request.headers.get('if-none-match');
  if (tags !== null)
    return tags === '*' || tags.split(/\s*,\s*/).some((tag) => tag.replace('W/', '') === eTag);
  const since = Date.parse(request.headers.get('if-modified-since') ?? '');
  return since >= Math.floor(lastModified.getTime() / 1000) * 1000;
}

function contentType({ metadata }: ObjectRow): string {
  const type = metadata?.mimetype ?? 'application/octet-stream';
  // Nobody's upload becomes a page on this origin.
  return type.startsWith('text/html') ? 'text/plain' : type;
}

function attachment(name: string): string {
  return name === '' ? 'attachment' : `attachment; filename="${encodeURIComponent(name)}"`;
}
