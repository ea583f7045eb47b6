import { createClient } from '@supabase/supabase-js';
import { put } from 'sounds-catalogue/storage';
import { inject } from 'vitest';

/** Puts a file into Storage, in the place of one that has its name; returns its path in the bucket. */
export async function storeFile(
  bucket: 'audio' | 'covers',
  path: string,
  type: string,
  content: Uint8Array | string = 'file',
): Promise<string> {
  const { apiUrl, secretKey } = inject('stack');
  await put(createClient(apiUrl, secretKey), { bucket, path, type }, content);
  return path;
}
