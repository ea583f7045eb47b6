import { createClient } from '@supabase/supabase-js';
import { AUDIO_RECIPES, makeAudio } from './audio-recipes.ts';
import { COVER_RECIPES, makeCover } from './cover-recipes.ts';

type Bucket = ReturnType<ReturnType<typeof createClient>['storage']['from']>;

/** A file that belongs in Storage, and how to make it. */
interface SeedFile {
  bucket: 'audio' | 'covers';
  path: string;
  contentType: string;
  make: () => Buffer | Promise<Buffer>;
}

export interface SeedTarget {
  supabaseUrl: string;
  secretKey: string;
  log: (line: string) => void;
}

/** Enough to make one file while another travels, and few enough to keep memory small. */
const WORKERS = 3;

/**
 * Makes and uploads the audio and the covers of the seeded catalogue. A file whose name is there already is left as
 * it is, so a second run is quick and an admin's replacement stays.
 */
export async function seedFiles({ supabaseUrl, secretKey, log }: SeedTarget): Promise<void> {
  const { storage } = createClient(supabaseUrl, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
  const missing = await missingFiles((name) => storage.from(name));
  if (missing.length === 0) return log('The sample files are in Storage already');
  log(`Making and uploading ${missing.length} sample files`);
  const startedMs = performance.now();
  let bytes = 0;
  const queue = missing.values();
  const work = async () => {
    for (const file of queue) {
      const size = await upload(storage.from(file.bucket), file);
      bytes += size;
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const tookSec = (performance.now() - startedMs) / 1_000;
  log(`Uploaded ${missing.length} sample files (${(bytes / 1e6).toFixed(0)} MB) in ${tookSec.toFixed(1)} s`);
}

/** Every file of the seed. Covers come first: they are small, and an app's lists look right soonest. */
function allFiles(): SeedFile[] {
  return [
    ...Object.keys(COVER_RECIPES).map(
      (path) => ({ bucket: 'covers', path, contentType: 'image/jpeg', make: () => makeCover(path) }) as const,
    ),
    ...Object.keys(AUDIO_RECIPES).map(
      (path) => ({ bucket: 'audio', path, contentType: 'audio/wav', make: () => makeAudio(path) }) as const,
    ),
  ];
}

async function missingFiles(bucketOf: (name: string) => Bucket): Promise<SeedFile[]> {
  const files = allFiles();
  const folders = new Set(files.map(({ bucket, path }) => `${bucket}/${folderOf(path)}`));
  const stored = await Promise.all(
    [...folders].map(async (folder) => {
      const [bucket = '', name = ''] = folder.split('/');
      const { data, error } = await bucketOf(bucket).list(name, { limit: 1_000 });
      if (error) {
        const problem = `Cannot list ${folder} in Storage: ${error.message}`;
        throw new Error(`${problem}. Is SUPABASE_SECRET_KEY a secret key of that project?`, {
          cause: error,
        });
      }
      return data.map((object) => `${folder}/${object.name}`);
    }),
  );
  const there = new Set(stored.flat());
  return files.filter(({ bucket, path }) => !there.has(`${bucket}/${path}`));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Returns the size in bytes. Overwriting is allowed, because another process may be seeding the same files now. */
async function upload(bucket: Bucket, { path, contentType, make, bucket: name }: SeedFile): Promise<number> {
  const file = await make();
  const { error } = await bucket.upload(path, file, { contentType, upsert: true });
  if (error) throw new Error(`Cannot upload ${name}/${path} to Storage: ${error.message}`, { cause: error });
  return file.length;
}
