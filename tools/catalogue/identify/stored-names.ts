import type { Catalogue } from '../project/catalogue.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { checksumIn, storagePath } from '../shared/paths.ts';
import type { Sound } from '../shared/sound.ts';
import { hasContent, type Identity } from './identify.ts';

// Decides about names in Storage that differ from those that new files get.

/** Keeps the names of files whose content is in Storage already, such as those of a sound that was moved. */
export function keepStoredNames({ known }: Identity, catalogue: Catalogue): void {
  for (const [sound, record] of known) {
    const { audio, picture } = sound;
    const { audio_path, cover_image_path } = { ...catalogue.sounds.get(record.sound_id), ...record.fields };
    if (audio && audio_path && hasContent(record, sound)) sound.audio = { ...audio, path: audio_path };
    if (picture && cover_image_path && picture.checksum.startsWith(checksumIn(cover_image_path) ?? '-'))
      sound.picture = { ...picture, path: cover_image_path };
  }
}

/**
 * Adds a checksum to the name of a file if Storage has one of another size under that name, because it belongs to the
 * project.
 */
export function avoidTakenNames(
  sounds: Sound[],
  stored: Map<string, { size: number }>,
  { known }: Pick<Identity, 'known'>,
): void {
  const isTaken = ({ bucket, path, size }: LocalFile) =>
    (stored.get(`${bucket}/${path}`)?.size ?? size) !== size;
  const renamed = (file: LocalFile) => ({ ...file, path: storagePath(file.path, file.checksum) });
  for (const sound of sounds) {
    const { audio, picture } = sound;
    if (audio && known.get(sound)?.fields.audio_path !== audio.path && isTaken(audio))
      sound.audio = renamed(audio);
    if (picture && isTaken(picture)) sound.picture = renamed(picture);
  }
}
