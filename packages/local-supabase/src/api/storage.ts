import type { HonoContext } from '@supabase/lite';
import type { Context, MiddlewareHandler } from 'hono';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { LOCAL_KEYS } from '../keys.ts';
import { isStudio } from './access.ts';
import { download } from './download.ts';
import { list } from './list.ts';
import { RESUMABLE, resumableUploads } from './resumable.ts';
import { findObject, type Storage, storageCaller } from './storage-caller.ts';
import { bucketNotFound, invalidRequest, requestBody, StorageError } from './storage-errors.ts';
import { upload } from './upload.ts';
import { forLite } from './user-tokens.ts';

/** HMAC key of signed addresses. */
const signingKey = new TextEncoder().encode(LOCAL_KEYS.jwtSecret);

type Handler = (storage: Storage, c: Context, bucket: string, name: string) => Promise<Response>;

// Tried in this order: the last two would take the others for buckets. What no line names is left to Lite.
const ROUTES: [methods: string[], path: RegExp, handler: Handler][] = [
  [['POST'], /^\/object\/list\/([^/]+)$/, list],
  [['POST'], /^\/object\/sign\/([^/]+)$/, signMany],
  [['POST'], /^\/object\/sign\/([^/]+)\/(.+)$/, signOne],
  [['GET', 'HEAD'], /^\/object\/sign\/([^/]+)\/(.+)$/, downloadSigned],
  [['GET', 'HEAD'], /^\/object\/public\/([^/]+)\/(.+)$/, downloadPublic],
  [
    ['GET', 'HEAD'],
    /^\/object\/(?:authenticated\/|(?!info\/|list\/|upload\/))([^/]+)\/(.+)$/,
    downloadAsCaller,
  ],
  [['POST', 'PUT'], /^\/object\/(?!list\/|upload\/|info\/)([^/]+)\/(.+)$/, upload],
];

/** Signs, serves and receives objects as Supabase Storage does. */
export function storageRoutes(storage: Storage): MiddlewareHandler<HonoContext> {
  const resumable = resumableUploads(storage);
  return async (c, next) => {
    const path = new URL(c.req.url).pathname.replace(/^\/storage\/v1/, '');
    if (!c.req.path.startsWith('/storage/v1/')) return next();
    try {
      if (c.req.path.startsWith(RESUMABLE)) {
        if (c.req.method !== 'HEAD' && c.req.method !== 'OPTIONS') await storageCaller(c.req.raw.headers);
        return await resumable.handleWeb(c.req.raw);
      }
      for (const [methods, pattern, handler] of ROUTES) {
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

const Sign = z.object({ expiresIn: z.int().min(1) });

async function signOne(storage: Storage, c: Context, bucket: string, name: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { expiresIn } = requestBody(Sign, await c.req.json().catch(() => undefined));
  await findObject(storage, bucket, name, caller, 'storage.object.sign');
  return c.json({ signedURL: await signedUrl(bucket, name, expiresIn) });
}

const SignMany = Sign.extend({ paths: z.array(z.string()).min(1).max(1000) });

/** What is missing or hidden is named in the list, which is a success all the same. */
async function signMany(storage: Storage, c: Context, bucket: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { expiresIn, paths } = requestBody(SignMany, await c.req.json().catch(() => undefined));
  const signed = paths.map(async (path) => {
    const found = await findObject(storage, bucket, path, caller, 'storage.object.sign_many').catch(
      () => null,
    );
    const error = found ? null : 'Either the object does not exist or you do not have access to it';
    return { path, signedURL: found && (await signedUrl(bucket, path, expiresIn)), error };
  });
  return c.json(await Promise.all(signed));
}

async function signedUrl(bucket: string, name: string, seconds: number): Promise<string> {
  const token = await new SignJWT({ url: `${bucket}/${name}`, scope: 'download' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(signingKey);
  return `/object/sign/${bucket}/${name}?token=${token}`;
}

async function downloadSigned(storage: Storage, c: Context, bucket: string, name: string) {
  const token = c.req.query('token') ?? '';
  const { payload } = await jwtVerify(token, signingKey, { algorithms: ['HS256'] }).catch((error: Error) => {
    throw new StorageError(400, 'InvalidJWT', error.message);
  });
  if (payload['scope'] !== 'download' || payload['url'] !== `${bucket}/${name}`) {
    throw new StorageError(400, 'InvalidSignature', 'The signature is not valid for this object');
  }
  // No Cache-Control: how long the answer is good for is how long the address is.
  const expires = new Date((payload.exp ?? 0) * 1000).toUTCString();
  const row = await findObject(storage, bucket, name);
  return download(storage.files, bucket, row, c.req.raw, { Expires: expires });
}

async function downloadPublic(storage: Storage, c: Context, bucket: string, name: string) {
  const [found] = await storage.connection.driver`select public from storage.buckets where id = ${bucket}`;
  if (!found?.['public']) throw bucketNotFound();
  return download(storage.files, bucket, await findObject(storage, bucket, name), c.req.raw);
}

async function downloadAsCaller(storage: Storage, c: Context, bucket: string, name: string) {
  const caller = await storageCaller(c.req.raw.headers);
  const row = await findObject(storage, bucket, name, caller, 'storage.object.get_authenticated');
  return download(storage.files, bucket, row, c.req.raw);
}
