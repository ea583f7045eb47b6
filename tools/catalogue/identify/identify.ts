import type { Catalogue, Imported, Place } from '../project/catalogue.ts';
import { checksumIn } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { nameOf, type Sound } from '../shared/sound.ts';

/** Which sounds of the catalogue those of a folder are. */
export interface Identity {
  /** Those that are in the catalogue, or were deleted there. */
  known: Map<Sound, Imported>;
  /** Recordings that another one in the folder has the same content as: that one. */
  copies: Map<Sound, Sound>;
  /** What lay in the folder once, and no longer does. */
  gone: { id: string; place: Place }[];
}

/**
 * Knows a sound by its place, else by the content of its recording.
 * @param source the name of the folder
 * @param isThere whether the folder has a recording of this name
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
  /** Each sound of the catalogue is one of the folder at most. */
  const claim = (find: (sound: Sound) => (Imported | undefined)[]) => {
    for (const sound of candidates) {
      if (known.has(sound)) continue;
      const record = find(sound).find((each) => each && !claimed.has(each.sound_id));
      if (!record) continue;
      known.set(sound, record);
      claimed.add(record.sound_id);
    }
  };
  const records = recordsIn(catalogue);
  const byId = new Map(records.map((record) => [record.sound_id, record]));
  const byPlace = new Map(
    records.flatMap((record) => record.places.map((place) => [keyOf(place), record] as const)),
  );
  const byContent = Map.groupBy(records, (record) => digitsOf(record, catalogue));
  const ofContent = (sound: Sound) =>
    (byContent.get(sound.audio?.checksum.slice(0, 12)) ?? []).filter((each) =>
      hasContent(each, sound, catalogue),
    );

  // An export writes ids.
  claim(({ key }) => [byId.get(key)]);
  claim(({ file, key }) => [byPlace.get(keyOf({ source, file, key }))]);
  claimWithoutSource();
  claim((sound) => ofContent(sound).filter((each) => each.places.some((place) => isAt(place, sound))));
  claim((sound) => ofContent(sound).filter((each) => keysOf(each).includes(sound.key)));
  claim((sound) => ofContent(sound).filter((each) => sound.key === '' || keysOf(each).includes('')));
  const byHand = [...catalogue.sounds.values()].filter(({ id }) => !catalogue.imported.has(id));
  const byPath = new Map(byHand.map(({ audio_path, id }) => [audio_path, byId.get(id)]));
  // One that was made by hand, of a recording of this very name.
  claim(({ file, key }) => [key === '' && file ? byPath.get(file) : undefined]);
  const copies = new Map([...links, ...copiesIn(candidates, known)]);
  return { known, copies, gone: goneFrom(records, source, isThere, claimed) };

  /** What was imported when the name of the folder was not remembered: where one recording is the same, it is the same folder. */
  function claimWithoutSource() {
    const earlier = ({ file }: Sound) => byPlace.get(keyOf({ file }));
    claim((sound) => ofContent(sound).filter((each) => each === earlier(sound)));
    if (known.size > 0) claim((sound) => [sound.key === '' ? earlier(sound) : undefined]);
  }
}

const keyOf = ({ source, file, key }: Partial<Record<keyof Place, string | undefined>>) =>
  JSON.stringify([source ?? '', file ?? '', key ?? '']);
const isAt = (place: Place, { file, key }: Sound) => place.file === file && (place.key ?? '') === key;
const keysOf = ({ places }: Imported) => (places.length > 0 ? places.map(({ key = '' }) => key) : ['']);

/** What is known of each sound; of one that no import made, nothing. */
function recordsIn({ sounds, imported }: Catalogue): Imported[] {
  const others = [...sounds.keys()].filter((id) => !imported.has(id));
  return [
    ...imported.values(),
    ...others.map((sound_id) => ({ sound_id, places: [], checksum: null, fields: {}, said: {} })),
  ];
}

/** The first digits of the checksum of its recording, which earlier imports left in the name of the stored file only. */
const digitsOf = ({ sound_id, checksum, fields }: Imported, { sounds }: Catalogue) =>
  checksum?.slice(0, 12) ?? checksumIn(fields.audio_path ?? sounds.get(sound_id)?.audio_path);

/** Whether a sound of the catalogue has the content of a recording of the folder. */
export function hasContent(record: Imported, { audio }: Sound, catalogue: Catalogue): boolean {
  const content = record.checksum ?? digitsOf(record, catalogue);
  return content !== undefined && audio?.checksum.startsWith(content) === true;
}

/** Symbolic links to recordings that are in the folder as well: whoever moves a recording may leave one at its old place. */
function linksIn(sounds: Sound[]): Map<Sound, Sound> {
  const originals = new Map(
    sounds.filter(({ isLink }) => !isLink).map((sound) => [sound.audio?.checksum, sound]),
  );
  const links = new Map<Sound, Sound>();
  for (const sound of sounds) {
    const original = sound.audio && originals.get(sound.audio.checksum);
    if (original && sound.isLink && sound.key === '') links.set(sound, original);
  }
  return links;
}

/** Those of the same content as another one of the folder, which is known or comes first. Who has a key is no copy. */
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
    // What is there and was rejected is not gone.
    return place.file !== undefined && !place.key && isThere(place.file) ? [] : [{ id, place }];
  });
}

/** Names the copies, which are not imported, and the sounds whose file is gone from the folder. */
export function notesAbout({ copies, gone }: Identity, { sounds }: Catalogue): Problem[] {
  return [
    ...[...copies].map(([copy, original]) => ({
      where: nameOf(copy),
      reason: `A copy of ${nameOf(original)}: not imported.`,
    })),
    ...gone.flatMap(({ id, place: { file, key = '' } }) => {
      const title = sounds.get(id)?.title;
      const reason = `Gone from the folder. Its sound "${title}" is left alone.`;
      return title ? [{ where: nameOf({ file, key }), reason }] : [];
    }),
  ];
}
