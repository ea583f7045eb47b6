import { resolveKey } from './access.ts';
import type { ObjectFiles } from './objects.ts';
import type { RestConnection } from './rest-connection.ts';
import { accessDenied, noAuthorization } from './storage-errors.ts';
import { verifyToken } from './user-tokens.ts';

/** Where objects are: their rows in the database, their bytes in files. */
export interface Storage {
  connection: RestConnection;
  files: ObjectFiles;
  /** Where the parts of resumable uploads are kept until they are whole. */
  unfinishedDir: string;
}

/** Whom row-level security sees in a storage request. */
export interface StorageCaller {
  role: string;
  sub: string | null;
  jwt: Record<string, unknown>;
}

/**
 * Who is calling: the bearer token if it is one, else the API key.
 * @throws StorageError as Storage does, without any leeway for expired tokens
 */
export async function storageCaller(headers: Headers): Promise<StorageCaller> {
  const token = headers.get('authorization')?.replace(/^Bearer\s+/i, '');
  const key = headers.get('apikey') ?? token;
  if (token && !token.startsWith('sb_')) {
    const { payload } = await verifyToken(token).catch((error: Error) => {
      throw accessDenied(error.message);
    });
    const role = typeof payload['role'] === 'string' ? payload['role'] : 'anon';
    return { role, sub: payload.sub ?? null, jwt: payload };
  }
  if (!key) throw noAuthorization();
  const known = await resolveKey(key);
  if (!known) throw accessDenied('Invalid Compact JWS');
  return { role: String(known.claims['role']), sub: null, jwt: known.claims };
}

/** One row of `storage.objects`, as far as it is served. */
export interface ObjectRow {
  name: string;
  metadata: { mimetype?: string; cacheControl?: string; eTag?: string; lastModified?: string } | null;
}

/** Those of the named objects that the caller may see, under the caller's policies; all of them without a caller. */
export async function findObjects(
  connection: RestConnection,
  bucket: string,
  names: string[],
  caller?: StorageCaller,
  operation?: string,
): Promise<ObjectRow[]> {
  if (!caller) {
    const sql = connection.driver;
    return await sql<ObjectRow[]>`
      select name, metadata from storage.objects where bucket_id = ${bucket} and name in ${sql(names)}`;
  }
  const vars = { auth: { role: caller.role, jwt: caller.jwt }, storage: { operation } };
  return connection.withContext(vars, (db) =>
    db
      .withSchema('storage')
      .withTables<{ objects: ObjectRow & { bucket_id: string } }>()
      .selectFrom('objects')
      .select(['name', 'metadata'])
      .where('bucket_id', '=', bucket)
      .where('name', 'in', names)
      .execute(),
  );
}
