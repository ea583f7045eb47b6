import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SupabaseClient } from '@supabase/supabase-js';
import type { Catalogue } from '../project/catalogue.ts';
import { openStored } from '../project/storage.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { checksumIn, storagePath } from '../shared/paths.ts';
import type { Sound } from '../shared/sound.ts';
import { hasAudio, type Identity } from './identify.ts';

// Chooses names in Storage that differ from the names that new files get by default.

/** Keeps the names of files whose audio or picture is already in Storage, such as those of a moved or retagged sound. */
export function keepStoredNames({ known }: Identity, catalogue: Catalogue): void {
  for (const [sound, record] of known) {
    const { audio, picture } = sound;
    const { audio_path, cover_image_path } = { ...catalogue.sounds.get(record.sound_id), ...record.fields };
    const isSame = posix.extname(audio_path ?? '') === posix.extname(audio?.path ?? '');
    if (audio && audio_path && isSame && hasAudio(record, sound, catalogue.measurements))
      sound.audio = { ...audio, path: audio_path };
    if (picture && cover_image_path && picture.checksum.startsWith(checksumIn(cover_image_path) ?? '-'))
      sound.picture = { ...picture, path: cover_image_path };
  }
}

/**
 * Adds a checksum to the name of a file if Storage has other content under that name, so that an upload never replaces
 * a file of the project.
 */
export async function avoidTakenNames(
  client: SupabaseClient,
  sounds: Sound[],
  stored: Map<string, unknown>,
  { known }: Pick<Identity, 'known'>,
  { measurements }: Pick<Catalogue, 'measurements'>,
): Promise<void> {
  const checksums = new Map<string, Promise<string>>();
  const free = async (file: LocalFile): Promise<LocalFile> => {
    const { bucket, path, checksum } = file;
    const name = `${bucket}/${path}`;
    if (!stored.has(name) || checksumIn(path) === checksum.slice(0, 12)) return file;
    const there = checksums.get(name) ?? storedChecksum(client, bucket, path);
    checksums.set(name, there);
    return (await there) === checksum ? file : { ...file, path: storagePath(path, checksum) };
  };
  for (const sound of sounds) {
    const { audio, picture } = sound;
    const record = known.get(sound);
    const isKnown = record && hasAudio(record, sound, measurements) && record.fields.audio_path === audio?.path;
    if (audio && !isKnown) sound.audio = await free(audio);
    if (picture) sound.picture = await free(picture);
  }
}

async function storedChecksum(client: SupabaseClient, bucket: string, path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(await openStored(client, bucket, path), hash);
  return hash.digest('hex');
}
