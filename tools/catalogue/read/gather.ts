import PQueue from 'p-queue';
import { type Catalogue, type Category, findCategory } from '../project/catalogue.ts';
import { isTerminal } from '../shared/command.ts';
import type { Fields } from '../shared/fields.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { asRejected, type Problem, Rejected } from '../shared/problems.ts';
import type { Sound } from '../shared/sound.ts';
import { INSTALL_FFMPEG } from './measure.ts';
import { nameOfPicture, pictureFile, pictureOf } from './picture.ts';
import { type Recording, readRecording } from './recording.ts';
import { SHEET, type Sheet, type SheetRow } from './sheet.ts';
import { usableRows } from './usable-rows.ts';
import type { Found, FoundFile } from './walk.ts';

/** Content of a folder, in alphabetical order. */
export interface Gathered {
  sounds: Sound[];
  rejected: Problem[];
  /** Valid files that are not imported, and hints. */
  notes: Problem[];
}

const READ_AT_ONCE = 4;

/** Reads the recordings of a folder and the rows of the sheet about them. */
export async function gather(
  found: Found,
  sheet: Sheet,
  categories: Pick<Category, 'slug' | 'name'>[],
  { limits, measurements }: Pick<Catalogue, 'limits' | 'measurements'>,
): Promise<Gathered> {
  const { usable, rejected, unusable } = usableRows(
    sheet,
    (file) => found.recordings.has(file),
    (text) => findCategory(text, categories)?.slug,
  );
  const rows = Map.groupBy(usable, ({ file }) => file);
  const all = [...found.recordings];
  const left = all.filter(([file, { exported }]) => exported && !rows.has(file) && !unusable.has(file));
  const recordings = all.filter(([file, { exported }]) => rows.has(file) || !(exported || unusable.has(file)));
  const unmeasured: string[] = [];
  let done = 0;
  // A recording becomes one sound, or one sound for each of its rows.
  const read = async ([file, source]: [string, FoundFile]): Promise<Sound[] | Problem> => {
    const recording = await readRecording(file, source, limits.audio, measurements).catch(asRejected);
    showReading(++done, recordings.length);
    if (recording instanceof Rejected) return { where: file, reason: recording.message };
    if (!recording.isMeasured) unmeasured.push(file);
    const own = rows.get(file) ?? [{ line: 0, file, key: '', fields: {}, faults: [] }];
    return await Promise.all(own.map((row) => soundOf(row, recording, found, limits)));
  };
  const queue = new PQueue({ concurrency: READ_AT_ONCE });
  const outcomes = await queue.addAll(recordings.map((recording) => () => read(recording)));
  const silent = await Promise.all((rows.get(undefined) ?? []).map((row) => soundOf(row, undefined, found, limits)));
  return {
    sounds: [...outcomes.filter((outcome) => Array.isArray(outcome)).flat(), ...silent],
    rejected: [...found.rejected, ...rejected, ...outcomes.filter((outcome) => 'reason' in outcome)],
    notes: [...formatNotes(recordings), ...factNotes(unmeasured), ...leftNotes(left), ...pictureNotes(found, sheet)],
  };
}

async function soundOf(
  { file, key, fields, picture: named, createdAt }: SheetRow,
  recording: Recording | undefined,
  { recordings, pictures }: Found,
  limits: Catalogue['limits'],
): Promise<Sound> {
  const notes = [...(recording?.notes ?? [])];
  const find = async (): Promise<LocalFile | undefined> => {
    if (named) return await pictureFile(named, pictures, limits.covers);
    if (named === null || file === undefined || !recording) return undefined;
    return await pictureOf(file, recording, pictures, limits.covers);
  };
  const picture = await find().catch((error: unknown) => {
    notes.push(`No picture: ${asRejected(error).message}`);
    return undefined;
  });
  const cover: Fields = picture ? { cover_image_path: picture.path } : {};
  return {
    file,
    key,
    fields: { ...recording?.fields, ...(named === undefined && cover) },
    sheetFields: { ...fields, ...(named && cover), ...(named === null && { cover_image_path: null }) },
    ...(createdAt && { createdAt }),
    ...(recording && { audio: recording.audio }),
    ...(picture && { picture }),
    isLink: recordings.get(file ?? '')?.isLink ?? false,
    notes,
  };
}

/** Formats that iPhones do not play. */
const FOREIGN = /^audio\/(ogg|opus|webm)$/;

function formatNotes(recordings: [string, FoundFile][]): Problem[] {
  const files = recordings.filter(([, { type }]) => FOREIGN.test(type)).map(([file]) => file);
  return noteAbout(files, 'iPhones do not play Ogg, Opus and WebM. Export as .m4a or .mp3 for apps that run there.');
}

const factNotes = (files: string[]) =>
  noteAbout(files, `Without ffmpeg, loudness and waveform are missing, and lengths may be wrong. ${INSTALL_FFMPEG}`);

/** Makes one note about all these files. */
function noteAbout([file, ...more]: string[], reason: string): Problem[] {
  if (file === undefined) return [];
  return [{ where: more.length === 0 ? file : `${more.length + 1} files`, reason }];
}

function leftNotes(left: [string, FoundFile][]): Problem[] {
  const reason = `Not imported: no sound had it at the last export. For a new sound, add a line to ${SHEET}.`;
  return left.map(([where]) => ({ where, reason }));
}

/** Lists the pictures that belong to no recording. */
function pictureNotes({ recordings, pictures }: Found, { rows }: Sheet): Problem[] {
  const used = new Set([
    ...rows.map(({ picture }) => picture),
    ...[...recordings.keys()].map((file) => nameOfPicture(file, pictures)),
  ]);
  const reason =
    'Not used: no recording in its folder has the same name. Rename it to that of a recording, or to "cover".';
  return [...pictures]
    .filter(([file, { exported }]) => !used.has(file) && !exported)
    .map(([where]) => ({ where, reason }));
}

/** Shows in a terminal how many recordings have been read. */
function showReading(done: number, total: number): void {
  if (!isTerminal) return;
  process.stdout.write(`\r\x1b[KReading recordings: ${done} of ${total}${done === total ? '\r\x1b[K' : ''}`);
}
