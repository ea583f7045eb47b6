import { z } from 'zod';

/** Statuses that Storage sends unchanged. All other errors have status 400. */
const ownStatus = ['416', '500'];

/** Error in the shape of Supabase Storage: usually HTTP 400, with the real status as a string in the body. */
export class StorageError extends Error {
  readonly status: string;
  readonly error: string;
  readonly code: string;

  constructor(status: number, error: string, message: string, code = error) {
    super(message);
    this.status = String(status);
    this.error = error;
    this.code = code;
  }

  toResponse(): Response {
    const { status: statusCode, error, code, message } = this;
    const status = ownStatus.includes(statusCode) ? Number(statusCode) : 400;
    return Response.json({ statusCode, error, code, message }, { status });
  }
}

export const objectNotFound = () => new StorageError(404, 'not_found', 'Object not found', 'NoSuchKey');
export const bucketNotFound = () => new StorageError(404, 'Bucket not found', 'Bucket not found', 'NoSuchBucket');
export const accessDenied = (message: string) => new StorageError(403, 'Unauthorized', message, 'AccessDenied');
export const invalidRequest = (message: string) => new StorageError(400, 'Error', message, 'InvalidRequest');

/** Maps an error of the database. @throws StorageError for a rejected row, or else the unchanged error */
export function rejectRow(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === '42501') throw accessDenied('new row violates row-level security policy');
  if (code === '23505') throw new StorageError(409, 'Duplicate', 'The resource already exists', 'KeyAlreadyExists');
  if (code === '23503') throw new StorageError(404, 'InvalidRequest', 'The related resource does not exist');
  throw error;
}

/**
 * Checks a request's JSON.
 * @throws StorageError that describes the problem
 */
export function requestBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidRequest(`body ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
