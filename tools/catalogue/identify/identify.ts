import { type Catalogue, type Imported, newRecord, type Place } from '../project/catalogue.ts';
import type { Problem } from '../shared/problems.ts';
import { nameOf, type Sound } from '../shared/sound.ts';

/** Result of matching the sounds of a folder with the catalogue. */
export interface Identity {
  /** Sounds with their record. A sound of the catalogue may have been deleted since. */
  known: Map<Sound, Imported>;
  /** Recordings that have the same content as another one in the folder, mapped to that one. */
  copies: Map<Sound, Sound>;
  /** Sounds whose file was in the folder at an earlier import and is missing now. */
  gone: { id: string; place: Place }[];
}

/**
 * Identifies sounds by their id or place, otherwise by the content of their recording.
 * @param source name of the folder
 * @param isThere whether the folder has a recording with this name
 */
export function identify(
  sounds: Sound[],
  source: string,
  catalogue: Catalogue,
  isThere: (file: string) => boolean,
): Identity {
  const links = linksIn(sounds);
  const candidates = sounds.filter((sound) => !links.has(sound));
  const known = new Map<Sound, Imported>();
  const claimed = new Set<string>();
  /** Matches sounds that have no match yet. Each sound of the catalogue is matched only once. */
  const claim = (find: (sound: Sound) => (Imported | undefined)[]) => {
    for (const sound of candidates) {
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
  const byContent = Map.groupBy(records, ({ checksum }) => checksum);
  const ofContent = ({ audio }: Sound) => (audio && byContent.get(audio.checksum)) ?? [];

  // The key of an exported sound is its id.
  claim(({ key }) => [byId.get(key)]);
  claim((sound) => [byPlace.get(keyOf(source, sound))]);
  claim((sound) => ofContent(sound).filter((each) => keysOf(each).includes(sound.key)));
  claim((sound) => ofContent(sound).filter((each) => sound.key === '' || keysOf(each).includes('')));
  const byPath = new Map(byHand.map(({ audio_path, id }) => [audio_path, byId.get(id)]));
  // Match sounds that were made by hand for a recording with this name.
  claim(({ file, key }) => [key === '' && file ? byPath.get(file) : undefined]);
  const copies = new Map([...links, ...copiesIn(candidates, known)]);
  return { known, copies, gone: goneFrom(records, source, isThere, claimed) };
}

const keyOf = (source: string, { file, key = '' }: Partial<Pick<Sound, 'file' | 'key'>>) =>
  JSON.stringify([source, file, key]);
const keysOf = ({ places }: Imported) => places.map(({ key = '' }) => key);

/** Returns whether a sound of the catalogue has the content of a recording in the folder. */
export const hasContent = ({ checksum }: Imported, { audio }: Sound) =>
  checksum !== null && checksum === audio?.checksum;

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

/** Maps sounds to an earlier or known sound with the same content. A sound with a key is never a copy. */
function copiesIn(sounds: Sound[], known: Identity['known']): Map<Sound, Sound> {
  const isOne = (sound: Sound) => known.has(sound) || sound.key !== '';
  const first = new Map<string, Sound>();
  for (const sound of [...sounds.filter(isOne), ...sounds]) {
    const { checksum } = sound.audio ?? {};
    if (checksum !== undefined && !first.has(checksum)) first.set(checksum, sound);
  }
  const copies = new Map<Sound, Sound>();
  for (const sound of sounds) {
    const original = first.get(sound.audio?.checksum ?? '');
    if (original && original.file !== sound.file && !isOne(sound)) copies.set(sound, original);
  }
  return copies;
}

function goneFrom(
  records: Imported[],
  source: string,
  isThere: (file: string) => boolean,
  claimed: Set<string>,
): Identity['gone'] {
  return records.flatMap(({ sound_id: id, places }) => {
    const place = places.find((each) => each.source === source);
    if (!place || claimed.has(id)) return [];
    // Exclude a recording that was rejected but is still in the folder.
    return place.file !== undefined && !place.key && isThere(place.file) ? [] : [{ id, place }];
  });
}

/** Lists the copies, which are not imported, and the sounds whose file is missing from the folder. */
export function notesAbout({ copies, gone }: Identity, { sounds }: Catalogue): Problem[] {
  return [
    ...[...copies].map(([copy, original]) => ({
      where: nameOf(copy),
      reason: `Not imported: it is a copy of ${nameOf(original)}.`,
    })),
    ...gone.flatMap(({ id, place }) => {
      const title = sounds.get(id)?.title;
      const reason = `No longer in the folder. Its sound "${title}" is kept.`;
      return title ? [{ where: nameOf(place), reason }] : [];
    }),
  ];
}
