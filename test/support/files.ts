import { put } from '@sounds-service/catalogue/storage';
import { createClient } from '@supabase/supabase-js';
import { inject } from 'vitest';

/** Stores a file in Storage, replacing one with the same name. Returns its path in the bucket. */
export async function storeFile(
  bucket: 'audio' | 'covers',
  path: string,
  type: string,
  content: Uint8Array | string = 'file',
  { apiUrl, secretKey }: { apiUrl: string; secretKey: string } = inject('stack'),
): Promise<string> {
  await put(createClient(apiUrl, secretKey), { bucket, path, type }, content);
  return path;
}
