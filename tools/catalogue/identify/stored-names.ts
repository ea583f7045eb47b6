import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { SupabaseClient } from '@supabase/supabase-js';
import type { Catalogue, Imported } from '../project/catalogue.ts';
import { openStored } from '../project/storage.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { checksumIn, storagePath } from '../shared/paths.ts';
import type { Sound } from '../shared/sound.ts';
import { hasContent, type Identity } from './identify.ts';

// Under which names files go to Storage that could go under another one.

/** Gives files the names under which Storage has their content already: those of a sound that was moved. */
export function keepStoredNames({ known }: Identity, catalogue: Catalogue): void {
  for (const [sound, record] of known) {
    const { audio, picture } = sound;
    const { audio_path, cover_image_path } = { ...catalogue.sounds.get(record.sound_id), ...record.fields };
    if (audio && audio_path && hasContent(record, sound, catalogue))
      sound.audio = { ...audio, path: audio_path };
    if (picture && cover_image_path && picture.checksum.startsWith(checksumIn(cover_image_path) ?? '-'))
      sound.picture = { ...picture, path: cover_image_path };
  }
}

/**
 * Gives files that keep a name without a checksum one with it, where another content lies under that name: that one
 * belongs to the project.
 */
export async function avoidTakenNames(
  client: SupabaseClient,
  sounds: Sound[],
  stored: Map<string, unknown>,
  known: Map<Sound, Imported>,
): Promise<void> {
  const checked = new Map<string, Promise<LocalFile>>();
  const check = async (file: LocalFile): Promise<LocalFile> => {
    const { bucket, path, checksum } = file;
    const isOpen = stored.has(`${bucket}/${path}`) && checksumIn(path) !== checksum.slice(0, 12);
    if (!isOpen || (await storedChecksum(client, bucket, path)) === checksum) return file;
    return { ...file, path: storagePath(path, checksum) };
  };
  const checkOnce = (file: LocalFile) => {
    const known = checked.get(`${file.source} ${file.path}`) ?? check(file);
    checked.set(`${file.source} ${file.path}`, known);
    return known;
  };
  for (const sound of sounds) {
    const record = known.get(sound);
    const isKnown =
      record?.checksum === sound.audio?.checksum && record?.fields.audio_path === sound.audio?.path;
    if (sound.audio && !isKnown) sound.audio = await checkOnce(sound.audio);
    if (sound.picture) sound.picture = await checkOnce(sound.picture);
  }
}

async function storedChecksum(client: SupabaseClient, bucket: string, path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(await openStored(client, bucket, path), hash);
  return hash.digest('hex');
}
