import { sql } from 'kysely';
import { resolveKey } from './access.ts';
import type { ObjectFiles } from './objects.ts';
import type { Database, RestConnection } from './rest-connection.ts';
import type { Claims } from './rest-tokens.ts';
import { accessDenied, invalidRequest, objectNotFound, StorageError } from './storage-errors.ts';
import { verifyToken } from './user-tokens.ts';

/** Storage with rows of objects in the database and their bytes in files. */
export interface Storage {
  connection: RestConnection;
  files: ObjectFiles;
  /** Folder of unfinished resumable uploads. */
  unfinishedDir: string;
}

/**
 * Returns the claims of the bearer token, or of the API key.
 * @throws StorageError as Storage does, without leeway for expired tokens
 */
export async function storageCaller(headers: Headers): Promise<Claims> {
  const token = headers.get('authorization')?.replace(/^Bearer\s+/i, '');
  const key = headers.get('apikey') ?? token;
  if (token && !token.startsWith('sb_')) {
    const { payload } = await verifyToken(token).catch((error: Error) => {
      throw accessDenied(error.message);
    });
    return { ...payload, role: typeof payload['role'] === 'string' ? payload['role'] : 'anon' };
  }
  if (!key) throw invalidRequest("headers must have required property 'authorization'");
  const known = await resolveKey(key);
  if (!known) throw accessDenied('Invalid Compact JWS');
  return { role: 'anon', ...known.claims };
}

/** Runs statements in one transaction under the caller's policies. @param operation name that policies can read */
export const asCaller = <T>(
  { connection }: Storage,
  jwt: Claims,
  operation: string,
  run: (db: Database) => Promise<T>,
  options?: { forceRollback: boolean },
): Promise<T> => connection.withContext({ auth: { role: jwt.role, jwt }, storage: { operation } }, run, options);

const validName = /^[\w/!.*'() &$=@;:+,?-]+$/;

/** Checks the name of an object. @throws StorageError for a name that Storage does not accept */
export function checkName(name: string): void {
  if (!validName.test(name)) throw new StorageError(400, 'InvalidKey', `Invalid key: ${name}`);
}

export interface ObjectRow {
  name: string;
  metadata: { mimetype?: string; cacheControl?: string; eTag?: string; lastModified?: string } | null;
}

/**
 * Finds an object that the caller may see. Without a caller, finds any object.
 * @throws StorageError if there is none, or if the name is invalid
 */
export async function findObject(
  storage: Storage,
  bucket: string,
  name: string,
  caller?: Claims,
  operation = '',
): Promise<ObjectRow> {
  checkName(name);
  const query = sql<ObjectRow>`
    select name, metadata from storage.objects where bucket_id = ${bucket} and name = ${name}`;
  const { rows } = caller
    ? await asCaller(storage, caller, operation, (db) => query.execute(db))
    : await query.execute(storage.connection.kysely);
  if (!rows[0]) throw objectNotFound();
  return rows[0];
}
