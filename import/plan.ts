import { isDeepStrictEqual } from 'node:util';
import type { Catalogue, Imported, Row } from './catalogue.ts';
import { COLUMNS, type Column, columnsOf, type Fields } from './fields.ts';
import type { Sound } from './gather.ts';
import type { LocalFile } from './local-file.ts';
import { soundId } from './paths.ts';

export interface Options {
  /** Whether the folder wins over what was changed in the dashboard. */
  overwrite: boolean;
  /** Whether new sounds are inactive. */
  hidden: boolean;
}

/** What is to be done for one sound. */
export interface Step {
  file: string;
  action: 'create' | 'update' | 'unchanged';
  id: string;
  /** As it was read; undefined for a sound that is to be made. */
  row: Row | undefined;
  /** What to write into the row. */
  write: Fields;
  /** What to remember; undefined when that is remembered already. */
  remember: Imported | undefined;
  uploads: LocalFile[];
  /** What stays as the dashboard has it, in words. */
  leftAlone: string[];
  /** What the sound goes without, and why. */
  notes: string[];
}

/** What the database gives a new row; null where it is not named here. */
const DEFAULTS: Fields = { is_featured: false, is_active: true, sort_order: 0 };

/**
 * Plans what makes the catalogue as the folder says, in the order of the sounds.
 * @param stored the files that are in Storage, as bucket/path
 */
export function plan(sounds: Sound[], catalogue: Catalogue, stored: Set<string>, options: Options): Step[] {
  const byPath = new Map([...catalogue.sounds.values()].map((row) => [row.audio_path, row]));
  return sounds.map((sound) => {
    const last = catalogue.imported.get(sound.file);
    // One that was made by hand, of a recording of this very name, is this one.
    const id = last?.sound_id ?? byPath.get(sound.file)?.id ?? soundId(sound.file);
    const row = catalogue.sounds.get(id);
    const { file, notes } = sound;
    const step = { file, id, row, notes, leftAlone: [], uploads: [], write: {}, remember: undefined };
    if (row) return { ...step, ...changes(row, sound, last?.fields ?? {}, stored, options) };
    if (last && !options.overwrite) return { ...step, action: 'unchanged', leftAlone: ['sound'] };
    const write = options.hidden ? { ...sound.fields, is_active: false } : sound.fields;
    const remember = { sound_id: id, file, fields: write };
    return { ...step, action: 'create', write, remember, uploads: missingFiles(sound, write, stored) };
  });
}

/**
 * Holds against each other, field by field, what the folder says, what the last import wrote, and what the row has. What is
 * as the last import left it, the folder may change; what is not was changed in the dashboard, and stays.
 */
function changes(
  row: Row,
  sound: Sound,
  last: Fields,
  stored: Set<string>,
  { overwrite, hidden }: Options,
): Pick<Step, 'action' | 'write' | 'remember' | 'uploads' | 'leftAlone'> {
  const isOurs = (column: Column) =>
    overwrite || isDeepStrictEqual(row[column], last[column] ?? DEFAULTS[column] ?? null);
  const isDone = (column: Column) => isDeepStrictEqual(row[column], sound.fields[column]);
  const said = columnsOf(sound.fields).filter((column) => !(hidden && column === 'is_active'));
  const left = said.filter((column) => !isDone(column) && !isOurs(column));
  // The length is that of the recording.
  const agreed = said.filter(
    (column) => !left.includes(column) && !(column === 'duration_sec' && left.includes('audio_path')),
  );
  const write = pick(
    sound.fields,
    agreed.filter((column) => !isDone(column)),
  );
  const fields = { ...last, ...pick(sound.fields, agreed) };
  const uploads = missingFiles(sound, fields, stored);
  return {
    action: columnsOf(write).length + uploads.length > 0 ? 'update' : 'unchanged',
    write,
    remember: isDeepStrictEqual(fields, last) ? undefined : { sound_id: row.id, file: sound.file, fields },
    uploads,
    leftAlone: left.map((column) => COLUMNS[column]),
  };
}

function pick(fields: Fields, columns: Column[]): Fields {
  return Object.fromEntries(columns.map((column) => [column, fields[column]]));
}

/** Files that the row will name and that are not in Storage. */
function missingFiles({ audio, picture }: Sound, row: Fields, stored: Set<string>): LocalFile[] {
  const named = [
    ...(row.audio_path === audio.path ? [audio] : []),
    ...(picture && row.cover_image_path === picture.path ? [picture] : []),
  ];
  return named.filter(({ bucket, path }) => !stored.has(`${bucket}/${path}`));
}
