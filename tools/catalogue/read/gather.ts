import PQueue from 'p-queue';
import type { Catalogue } from '../project/catalogue.ts';
import type { Category } from '../shared/fields.ts';
import { showBar } from '../shared/print.ts';
import { asRejected, type Problem, Rejected } from '../shared/problems.ts';
import type { Sound } from '../shared/sound.ts';
import { oneOrMany } from '../shared/text.ts';
import { installFfmpeg } from './measure.ts';
import { nameOfPicture, pictureOf } from './picture.ts';
import { type Recording, readRecording } from './recording.ts';
import { type Sheet, type SheetRow, soundFile, usableRows } from './sheet.ts';
import type { Found, FoundFile } from './walk.ts';

/** Formats that iPhones do not play. */
const foreignTypes = /^audio\/(ogg|opus|webm)$/;
const foreignNote = 'iPhones do not play Ogg, Opus and WebM. Export as .m4a or .mp3 for apps that run there.';
const factsNote = `Without ffmpeg, loudness and waveform are missing, and lengths may be wrong. ${installFfmpeg}`;
const leftNote = `Not imported: no sound had it at the last export. For a new sound, add a line to ${soundFile}.`;
const pictureNote =
  'Not used: no recording in its folder has the same name. Rename it to that of a recording, or to "cover".';

/**
 * Reads the recordings of a folder and the rows of the sheet about them.
 * @returns the sounds in alphabetical order, problems, and notes about valid files that are not imported
 */
export async function gather(
  found: Found,
  sheet: Sheet,
  categories: Pick<Category, 'slug' | 'name'>[],
  { limits, measurements }: Pick<Catalogue, 'limits' | 'measurements'>,
) {
  const rowsThere = sheet.rows.filter(({ file = '' }) => !found.inCloud.has(file));
  const { usable, rejected, unusable } = usableRows({ ...sheet, rows: rowsThere }, found.recordings, categories);
  const rows = Map.groupBy(usable, ({ file }) => file);
  const isLeft = ([file, { exported }]: [string, FoundFile]) => exported !== undefined && !rows.has(file);
  const all = [...found.recordings].filter(([file]) => rows.has(file) || !unusable.has(file));
  const recordings = all.filter((each) => !isLeft(each));
  const unmeasured: string[] = [];
  const progress = showBar(recordings.length, '{value} of {total} recordings read | {eta_formatted} left');
  // A recording becomes one sound, or one sound for each of its rows.
  const read = async ([file, source]: [string, FoundFile]): Promise<Sound[] | Problem> => {
    const recording = await readRecording(file, source, limits.audio, measurements).catch(asRejected);
    progress.add(1);
    if (recording instanceof Rejected) return { where: file, reason: recording.message };
    if (!recording.audio.facts) unmeasured.push(file);
    const own = rows.get(file) ?? [{ line: 0, file, key: '', fields: {}, faults: [] }];
    return await Promise.all(own.map((row) => soundOf(row, recording, found, limits)));
  };
  const queue = new PQueue({ concurrency: 4 });
  // Ctrl-C may end the process, because nothing has been changed yet.
  const end = () => process.exit(130);
  process.once('SIGINT', end);
  const outcomes = await queue.addAll(recordings.map((each) => () => read(each))).finally(progress.close);
  process.off('SIGINT', end);
  const silent = await Promise.all((rows.get(undefined) ?? []).map((row) => soundOf(row, undefined, found, limits)));
  const foreign = recordings.filter(([, { type }]) => foreignTypes.test(type)).map(([file]) => file);
  return {
    sounds: [...outcomes.filter((outcome) => Array.isArray(outcome)).flat(), ...silent],
    rejected: [...found.rejected, ...rejected, ...outcomes.filter((outcome) => 'reason' in outcome)],
    notes: [
      ...noteAbout(foreign, foreignNote),
      ...noteAbout(unmeasured, factsNote),
      ...all.filter(isLeft).map(([where]) => ({ where, reason: leftNote })),
      ...unusedPictures(found, sheet).map((where) => ({ where, reason: pictureNote })),
    ],
  };
}

/** Makes one note about all these files. */
const noteAbout = (files: string[], reason: string) =>
  files.length === 0 ? [] : [{ where: oneOrMany(files, `${files.length} files`), reason }];

async function soundOf(
  { file, key, fields: { cover_image_path: named, created_at: createdAt, ...fields } }: SheetRow,
  recording: Recording | undefined,
  { recordings, pictures }: Found,
  limits: Catalogue['limits'],
): Promise<Sound> {
  const notes = [...(recording?.notes ?? [])];
  const finding = pictureOf(named, file ?? '', recording, pictures, limits.covers);
  const picture = await finding.catch((error: unknown) => {
    notes.push(`No picture: ${asRejected(error).message}`);
    return undefined;
  });
  const isNamed = named === null || (named !== undefined && picture !== undefined);
  return {
    file,
    key,
    fields: recording?.fields ?? {},
    sheetFields: isNamed ? { ...fields, cover_image_path: picture?.path ?? null } : fields,
    createdAt,
    audio: recording?.audio,
    picture,
    isLink: recordings.get(file ?? '')?.isLink ?? false,
    notes,
  };
}

/** Lists the pictures that belong to no recording. */
function unusedPictures({ recordings, pictures }: Found, { rows }: Sheet): string[] {
  const own = [...recordings.keys()].map((file) => nameOfPicture(file, pictures));
  const used = new Set([...own, ...rows.map(({ fields }) => fields.cover_image_path)]);
  return [...pictures].filter(([file, { exported }]) => !used.has(file) && !exported).map(([file]) => file);
}
