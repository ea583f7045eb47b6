import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SupabaseClient } from '@supabase/supabase-js';
import { type Catalogue, type Imported, newRecord, type Place } from '../project/catalogue.ts';
import { openStored } from '../project/storage.ts';
import type { Found } from '../read/walk.ts';
import { isInTrash } from '../shared/fields.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { checksumIn, storagePath } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { nameOf, type Sound } from '../shared/sound.ts';

/** Result of matching the sounds of a folder with the catalogue. */
export interface Identity {
  /** Sounds with their record. A sound of the catalogue may have been deleted since. */
  known: Map<Sound, Imported>;
  /** Recordings that have the same audio as another one in the folder, mapped to that one. */
  copies: Map<Sound, Sound>;
  /** Sounds whose file was in the folder at an earlier import and is missing now. */
  gone: { id: string; place: Place }[];
}

/**
 * Identifies sounds by their id, otherwise by the audio of their recording, wherever it lies, otherwise by their place.
 * @param source name of the folder
 * @param found files of the folder, also those that were rejected
 */
export function identify(
  sounds: Sound[],
  source: string,
  catalogue: Catalogue,
  found: Pick<Found, 'recordings' | 'inCloud'>,
): Identity {
  const { audioOf } = catalogue.measurements;
  const ofAudio = ({ audio }: Sound) => audioOf(audio?.checksum);
  const links = linksIn(sounds);
  const candidates = sounds.filter((sound) => !links.has(sound));
  const known = new Map<Sound, Imported>();
  const claimed = new Set<string>();
  /** Matches sounds that have no match yet. Each sound of the catalogue is matched only once. */
  const claim = (find: (sound: Sound) => (Imported | undefined)[], among = candidates) => {
    for (const sound of among) {
      if (known.has(sound)) continue;
      const record = find(sound).find((each) => each && !claimed.has(each.sound_id));
      if (!record) continue;
      known.set(sound, record);
      claimed.add(record.sound_id);
    }
  };
  const byHand = [...catalogue.sounds.values()].filter(({ id }) => !catalogue.imported.has(id));
  const records = [...catalogue.imported.values(), ...byHand.map(({ id }) => newRecord(id))];
  const byId = new Map(records.map((record) => [record.sound_id, record]));
  const byPlace = new Map(
    records.flatMap((record) => record.places.map((place) => [keyOf(place.source, place), record] as const)),
  );
  const byAudio = Map.groupBy(records, ({ checksum }) => audioOf(checksum));
  const withAudio = (sound: Sound) => (sound.audio && byAudio.get(ofAudio(sound))) ?? [];
  const atPlace = (sound: Sound) => byPlace.get(keyOf(source, sound));

  // The key of an exported sound is its id.
  claim(({ key }) => [byId.get(key)]);
  claim((sound) => withAudio(sound).filter((each) => each === atPlace(sound)));
  claim((sound) => withAudio(sound).filter((each) => keysOf(each).includes(sound.key)));
  claim((sound) => withAudio(sound).filter((each) => sound.key === '' || keysOf(each).includes('')));
  // A copy of a known recording does not replace the recording at its place.
  const early = copiesIn(candidates, known, ofAudio);
  const others = candidates.filter((sound) => !known.has(early.get(sound) as Sound));
  claim((sound) => [atPlace(sound)], others);
  const byPath = new Map(byHand.map(({ audio_path, id }) => [audio_path, byId.get(id)]));
  // Match sounds that were made by hand for a recording with this name.
  claim(({ file, key }) => [key === '' && file ? byPath.get(file) : undefined], others);
  const copies = copiesIn(candidates, known, ofAudio);
  const unclaimed = records.filter(({ sound_id }) => !claimed.has(sound_id));
  const gone = goneFrom(unclaimed, source, sounds, found);
  return { known, copies: new Map([...links, ...copies]), gone };
}

/** Returns the sounds whose file is missing. Files that were rejected or are only in iCloud are not missing. */
function goneFrom(
  records: Imported[],
  source: string,
  sounds: Sound[],
  { recordings, inCloud }: Pick<Found, 'recordings' | 'inCloud'>,
): Identity['gone'] {
  const isRejected = ({ file = '', key }: Place) =>
    !key && recordings.has(file) && !sounds.some((sound) => sound.file === file);
  return records.flatMap(({ sound_id: id, places }) => {
    const place = places.find((each) => each.source === source);
    return place && !isRejected(place) && !inCloud.has(place.file ?? '') ? [{ id, place }] : [];
  });
}

const keyOf = (source: string, { file, key = '' }: Partial<Pick<Sound, 'file' | 'key'>>) =>
  JSON.stringify([source, file, key]);
const keysOf = ({ places }: Imported) => places.map(({ key = '' }) => key);

/** Tells whether a sound of the catalogue has the audio of a recording in the folder. */
export const hasAudio = ({ checksum }: Imported, { audio }: Sound, { audioOf }: Catalogue['measurements']) =>
  checksum !== null && audioOf(checksum) === audioOf(audio?.checksum);

/** Maps symbolic links to the recordings in the folder with the same content. */
function linksIn(sounds: Sound[]): Map<Sound, Sound> {
  const originals = new Map(sounds.filter(({ isLink }) => !isLink).map((sound) => [sound.audio?.checksum, sound]));
  const links = new Map<Sound, Sound>();
  for (const sound of sounds) {
    const original = sound.audio && originals.get(sound.audio.checksum);
    if (original && sound.isLink && sound.key === '') links.set(sound, original);
  }
  return links;
}

/**
 * Maps sounds to an earlier or known sound with the same audio. A sound with a key is never a copy.
 * @param ofAudio identifies the audio of a sound
 */
function copiesIn(
  sounds: Sound[],
  known: Identity['known'],
  ofAudio: (sound: Sound) => string | undefined,
): Map<Sound, Sound> {
  const isOne = (sound: Sound) => known.has(sound) || sound.key !== '';
  const first = new Map<string | undefined, Sound>();
  for (const sound of [...sounds.filter(isOne), ...sounds])
    if (!first.has(ofAudio(sound))) first.set(ofAudio(sound), sound);
  const copies = new Map<Sound, Sound>();
  for (const sound of sounds) {
    const original = sound.audio && first.get(ofAudio(sound));
    if (original && original.file !== sound.file && !isOne(sound)) copies.set(sound, original);
  }
  return copies;
}

/** Lists the copies, which are not imported, and the sounds whose file is missing from the folder. */
export function notesAbout({ copies, gone }: Identity, { sounds }: Catalogue): Problem[] {
  return [
    ...[...copies].map(([copy, original]) => ({
      where: nameOf(copy),
      reason:
        copy.audio?.checksum === original.audio?.checksum
          ? `Not imported: it is a copy of ${nameOf(original)}.`
          : `Not imported: it is the same recording as ${nameOf(original)}, with other tags.`,
    })),
    ...gone.flatMap(({ id, place }) => {
      const row = sounds.get(id);
      if (!row || isInTrash(row)) return [];
      return [{ where: nameOf(place), reason: `No longer in the folder. Its sound "${row.title}" is kept.` }];
    }),
  ];
}

/** Keeps the names of files whose audio or picture is already in Storage, as after a sound was moved or retagged. */
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
