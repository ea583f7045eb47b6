import { createClient } from '@supabase/supabase-js';
import { put } from 'sounds-catalogue/storage';
import { inject } from 'vitest';

/** Puts a file into Storage, in the place of one that has its name; returns its path in the bucket. */
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
