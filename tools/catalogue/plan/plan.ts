import { isDeepStrictEqual } from 'node:util';
import { hasAudio, type Identity } from '../identify/identify.ts';
import { type Catalogue, type Imported, newRecord, type Place } from '../project/catalogue.ts';
import { nameOf as storedName } from '../project/storage.ts';
import { thumbnailOf } from '../read/picture.ts';
import type { Settings } from '../shared/arguments.ts';
import {
  type Column,
  columnDefaults,
  columnNames,
  columnsOf,
  type Facts,
  type Fields,
  factsToWrite,
  isInTrash,
  pick,
  type Row,
  trashed,
} from '../shared/fields.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { readableTitle, soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { isId, nameOf, type Sound } from '../shared/sound.ts';
import type { Part } from './structure.ts';

/** Steps of an import, and the problems that prevent others. */
export interface Plan {
  source: string;
  steps: Step[];
  parts: Part[];
  notes: Problem[];
  rejected: Problem[];
}

/** Action of an import for one sound. */
export interface Step {
  /** Name of the sound in reports. */
  file: string;
  key: string;
  action: 'create' | 'update' | 'unchanged';
  id: string;
  /** Row as it was read; undefined for a new sound. */
  row: Row | undefined;
  write: Fields;
  /** Measurements to write into the row; undefined if it has them. */
  facts?: Facts;
  /** Creation time of a new sound, if the sheet has one. */
  createdAt: string | undefined;
  /** Record for the next import; undefined if it is already stored. */
  remember: Imported | undefined;
  uploads: LocalFile[];
  /** Earlier place of a sound that has moved. */
  from: Place | undefined;
  /** True if the step is held back, because recording and title would both change. */
  isHeld: boolean;
  /** Names of the fields that keep the value set in the dashboard. */
  leftAlone: string[];
  /** Names of those fields in `leftAlone` that no import has written. */
  neverImported: string[];
  /** Notes about parts that are not imported, with the reason. */
  notes: string[];
}

/** Tells whether a step creates or updates a row. Other steps at most store the record for the next import. */
export const isChanging = ({ action }: Pick<Step | Part, 'action'>) => action === 'create' || action === 'update';

/**
 * Plans the steps that make the catalogue match the folder, in the order of the sounds.
 * @param stored the files in Storage, by bucket/path
 */
export function plan(
  sounds: Sound[],
  { known }: Identity,
  catalogue: Catalogue,
  stored: Map<string, unknown>,
  options: Settings,
): Step[] {
  return sounds.map((sound) => {
    const { file, key, audio, createdAt, notes } = sound;
    // Keep an id from an export, so that sounds have the same ids in a new project.
    const id = isId(key) ? key : soundId(options.source, file, key, audio?.checksum);
    const record = known.get(sound) ?? newRecord(id);
    const row = catalogue.sounds.get(record.sound_id);
    const { places, from } = placesOf(sound, record, options.source);
    const decided = { ...decide(sound, record, catalogue, row), places };
    const step: Step = {
      file: nameOf(sound),
      key,
      action: 'unchanged',
      id: record.sound_id,
      row,
      write: {},
      createdAt,
      remember: undefined,
      uploads: [],
      from,
      isHeld: false,
      leftAlone: [],
      neverImported: [],
      notes: [...notes, ...decided.notes],
    };
    if (isInTrash(row)) return { ...step, notes, leftAlone: ['sound'] };
    if (row) return { ...step, ...changes(row, sound, decided, record, catalogue, stored, options) };
    if (known.has(sound) && !options.overwrite) return { ...step, leftAlone: ['sound'] };
    const write = options.hidden ? { ...decided.fields, is_active: false } : decided.fields;
    const remember = { ...record, places, checksum: audio?.checksum ?? null, fields: write, said: decided.said };
    const files = filesIn(sound, write);
    return { ...step, action: 'create', write, facts: factsOf(files), remember, uploads: missing(files, stored) };
  });
}

/** Result of `decide`: all fields of a sound, the fields that sheets have set, and notes about fields that it lacks. */
interface Decision {
  fields: Fields;
  said: Fields;
  notes: string[];
}

/**
 * Merges the fields of the folder and of all sheets so far. A value stays until a later sheet has another one. Leaves
 * out a category in the trash, unless the sound has it.
 */
function decide(sound: Sound, record: Imported, { categories }: Catalogue, row: Row | undefined): Decision {
  const files: Fields = {
    ...(sound.audio && { audio_path: sound.audio.path }),
    ...(sound.picture && { cover_image_path: sound.picture.path }),
  };
  const isNamed = typeof sound.sheetFields.cover_image_path === 'string';
  const now = isNamed ? { ...sound.sheetFields, cover_image_path: sound.picture?.path ?? null } : sound.sheetFields;
  const said = { ...record.said, ...now };
  // Forget a slug that no longer exists, because the category was renamed, which has also updated the sound.
  const { category } = record.said;
  const isStale = category && now.category === undefined && !categories.some(({ slug }) => slug === category);
  if (isStale) delete said.category;
  const fields = { ...sound.fields, ...files, ...said };
  const deleted = categories.find((each) => each.slug === fields.category && isInTrash(each));
  if (!deleted || row?.category === deleted.slug) return { fields, said, notes: [] };
  delete fields.category;
  return { fields, said, notes: [`Written without the category "${deleted.slug}": it was ${trashed(deleted)}.`] };
}

/** Returns the places of a sound after the import and, if it has moved, its earlier place. */
function placesOf({ file, key }: Sound, { places }: Imported, source: string) {
  const here: Place = { source, ...(file !== undefined && { file }), ...(key !== '' && { key }) };
  const last = places.find((place) => place.source === source);
  return {
    places: last ? places.map((place) => (place === last ? here : place)) : [...places, here],
    from: isDeepStrictEqual(last, here) ? undefined : (last ?? places[0]),
  };
}

/**
 * Compares each field in the folder, the last import and the row. Changes fields that still have the value of the last
 * import, and keeps the others, because they were changed in the dashboard.
 */
function changes(
  row: Row,
  sound: Sound,
  { fields: wanted, said, places }: { fields: Fields; said: Fields; places: Place[] },
  record: Imported,
  { measurements }: Catalogue,
  stored: Map<string, unknown>,
  { overwrite, hidden }: Settings,
): Partial<Step> {
  const { fields: last } = record;
  const isOurs = (column: Column) => overwrite || isSame(row[column], last[column] ?? columnDefaults[column] ?? null);
  const isDone = (column: Column) => isSame(row[column], wanted[column]);
  const told = columnsOf(wanted).filter((column) => !(hidden && column === 'is_active'));
  const left = told.filter((column) => !isDone(column) && !isOurs(column));
  // Keep the length if the recording is kept.
  const agreed = told.filter(
    (column) => !left.includes(column) && !(column === 'duration_sec' && left.includes('audio_path')),
  );
  const open = agreed.filter((column) => !isDone(column));
  const write = pick(wanted, open);
  const isNewContent = open.includes('audio_path') && row.audio_path !== null && !hasAudio(record, sound, measurements);
  if (isNewContent && !overwrite && isAnotherTitle(row, write, sound))
    return { write, isHeld: true, remember: changed(record, { ...record, places }) };
  const fields = { ...last, ...pick(wanted, agreed) };
  const checksum = agreed.includes('audio_path') ? (sound.audio?.checksum ?? null) : record.checksum;
  const uploads = missing(filesIn(sound, fields), stored);
  const facts = factsOf(filesIn(sound, { ...row, ...write }), ({ bucket, facts = {}, outdated }) => {
    // Write all facts with a new path, because a trigger clears the facts of the last file.
    const isNew = (bucket === 'audio' ? 'audio_path' : 'cover_image_path') in write;
    return isNew ? facts : factsToWrite(row, facts, overwrite ? row : outdated);
  });
  const isMeasured = Object.keys(facts).length > 0;
  return {
    action: open.length + uploads.length > 0 || isMeasured ? 'update' : 'unchanged',
    write,
    ...(isMeasured && { facts }),
    remember: changed(record, { sound_id: row.id, places, checksum, fields, said }),
    uploads,
    leftAlone: left.map((column) => columnNames[column]),
    neverImported: left.filter((column) => !(column in last)).map((column) => columnNames[column]),
  };
}

const changed = (before: Imported, after: Imported) => (isDeepStrictEqual(before, after) ? undefined : after);

/** Compares two values of a field; tags in NFC. */
const isSame = (a: Fields[Column], b: Fields[Column]) => isDeepStrictEqual(composed(a), composed(b));
const composed = (value: unknown) => (Array.isArray(value) ? value.map((tag: string) => tag.normalize('NFC')) : value);

/** Tells whether a title that an administrator wrote would change. */
function isAnotherTitle(row: Row, { title }: Fields, { file }: Sound): boolean {
  const made = file && readableTitle(file);
  return title !== undefined && title !== made && row.title !== made;
}

/** Returns the files that a row names. */
const filesIn = ({ audio, picture }: Sound, row: Pick<Fields, 'audio_path' | 'cover_image_path'>): LocalFile[] => [
  ...(audio && row.audio_path === audio.path ? [audio] : []),
  ...(picture && row.cover_image_path === picture.path ? [picture] : []),
];

const factsOf = (files: LocalFile[], choose = ({ facts }: LocalFile) => facts): Facts =>
  Object.assign({}, ...files.map(choose));

/** Returns the files that Storage lacks, with the thumbnails of pictures. */
const missing = (files: LocalFile[], stored: Map<string, unknown>): LocalFile[] =>
  files
    .flatMap((file) => (file.bucket === 'covers' ? [file, thumbnailOf(file)] : [file]))
    .filter((file) => !stored.has(storedName(file)));
