import type { Context } from 'hono';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { localKeys } from '../keys.ts';
import { findObject, type Storage, storageCaller } from './storage-caller.ts';
import { requestBody, StorageError } from './storage-errors.ts';

const signingKey = new TextEncoder().encode(localKeys.jwtSecret);

const Sign = z.object({ expiresIn: z.int().min(1) });

export async function signOne(storage: Storage, c: Context, bucket: string, name: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { expiresIn } = requestBody(Sign, await c.req.json().catch(() => undefined));
  await findObject(storage, bucket, name, caller, 'storage.object.sign');
  return c.json({ signedURL: await signedUrl(bucket, name, expiresIn) });
}

const SignMany = Sign.extend({ paths: z.array(z.string()).min(1).max(1000) });

/** Signs objects. The response is a success, with an error for each object that is missing or hidden. */
export async function signMany(storage: Storage, c: Context, bucket: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { expiresIn, paths } = requestBody(SignMany, await c.req.json().catch(() => undefined));
  const signed = paths.map(async (path) => {
    const found = await findObject(storage, bucket, path, caller, 'storage.object.sign_many').catch(() => null);
    const error = found ? null : 'Either the object does not exist or you do not have access to it';
    return { path, signedURL: found && (await signedUrl(bucket, path, expiresIn)), error };
  });
  return c.json(await Promise.all(signed));
}

async function signedUrl(bucket: string, name: string, seconds: number): Promise<string> {
  const token = new SignJWT({ url: `${bucket}/${name}` })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(signingKey);
  return `/object/sign/${bucket}/${name}?token=${await token}`;
}

/**
 * Verifies the token of a signed address.
 * @throws StorageError unless it is valid for this object
 */
export async function verifySigned(c: Context, bucket: string, name: string) {
  const token = c.req.query('token') ?? '';
  const { payload } = await jwtVerify(token, signingKey, { algorithms: ['HS256'] }).catch((error: Error) => {
    throw new StorageError(400, 'InvalidJWT', error.message);
  });
  if (payload['url'] !== `${bucket}/${name}`) throw new StorageError(400, 'InvalidSignature', 'Invalid signature');
  return payload;
}
