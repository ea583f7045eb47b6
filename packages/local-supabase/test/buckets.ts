import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type Request, type Supabase, test } from './supabase.ts';

const suffix = randomUUID().slice(0, 8);
export const audioBucket = `compat-audio-${suffix}`;
export const coversBucket = `compat-covers-${suffix}`;
export const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** Creates a private and a public bucket for the tests of a file. */
export const useBuckets = () =>
  test.beforeAll(async ({ supabase: { sql } }) => {
    await sql`insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) values
    (${audioBucket}, ${audioBucket}, false, 100, array['audio/mpeg', 'text/*', 'image/png']), (${coversBucket}, ${coversBucket}, true, null, null)`;
    return async () => {
      await sql.begin(async (transaction) => {
        // The real Storage rejects deletions of rows without this setting.
        await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
        await transaction`delete from storage.objects where bucket_id in (${audioBucket}, ${coversBucket})`;
        await transaction`delete from storage.buckets where id in (${audioBucket}, ${coversBucket})`;
      });
    };
  });

export const ask = ({ call, secretKey }: Supabase, path: string, request: Request = {}) =>
  call(`/storage/v1/object/${path}`, { apikey: secretKey, ...request });

export const upload = (supabase: Supabase, path: string, type = 'audio/mpeg', body = alphabet, headers = {}) =>
  ask(supabase, path, { method: 'POST', body, headers: { 'Content-Type': type, ...headers } });

/** Uploads a new object to the private bucket. Returns its name. */
export async function audio(supabase: Supabase): Promise<string> {
  const name = `folder/${randomUUID()} (1).mp3`;
  const { status, body } = await upload(supabase, `${audioBucket}/${encodeURI(name)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return name;
}

/** Uploads a text to the public bucket. Returns its name. */
export async function cover(supabase: Supabase, text = alphabet): Promise<string> {
  const name = `${randomUUID()}.txt`;
  expect((await upload(supabase, `${coversBucket}/${name}`, 'text/plain', text)).status).toBe(200);
  return name;
}
