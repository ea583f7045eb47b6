import PQueue from 'p-queue';
import type { Catalogue, Category } from './catalogue.ts';
import { slugOf } from './categories.ts';
import type { Fields } from './fields.ts';
import type { LocalFile } from './local-file.ts';
import { pictureFile, pictureOf } from './picture.ts';
import { asRefused, type Problem, Refused } from './problems.ts';
import { type Recording, readRecording } from './recording.ts';
import { readSheet, SHEET, type Sheet } from './sheet.ts';
import { type Found, type FoundFile, walk } from './walk.ts';

/** What the folder says about one sound. What it does not say is left out. */
export interface Sound {
  file: string;
  fields: Fields;
  audio: LocalFile;
  picture?: LocalFile;
  /** What the sound goes without, and why. */
  notes: string[];
}

/** Both in the order of the folder; what is refused in the sheet is in the order of its lines. */
export interface Gathered {
  sounds: Sound[];
  refused: Problem[];
}

const READ_AT_ONCE = 4;

/**
 * Reads a folder: the recordings in it, and what the sheet says about them.
 * @param onRead told how many of how many recordings have been read
 * @throws ImportError when the sheet cannot be understood
 */
export async function gather(
  folder: string,
  { limits, categories }: Catalogue,
  onRead: (done: number, total: number) => void,
): Promise<Gathered> {
  const sheet = await readSheet(folder);
  const found = await walk(folder);
  checkRows(sheet, found, categories);
  const recordings = [...found.recordings].filter(([file]) => !sheet.unusable.has(file));
  let done = 0;
  const read = async ([file, source]: [string, FoundFile]): Promise<Sound | Problem> => {
    const outcome = await readSound(file, source, found, sheet, limits).catch(asRefused);
    onRead(++done, recordings.length);
    return outcome instanceof Refused ? { where: file, reason: outcome.message } : outcome;
  };
  const queue = new PQueue({ concurrency: READ_AT_ONCE });
  const outcomes = await queue.addAll(recordings.map((recording) => () => read(recording)));
  const problems = outcomes.filter((outcome) => 'reason' in outcome);
  return {
    sounds: outcomes.filter((outcome) => 'fields' in outcome),
    refused: [...found.refused, ...sheet.refused, ...problems],
  };
}

/** Refuses the rows of recordings and categories that do not exist, and gives the others the slugs of their categories. */
function checkRows(sheet: Sheet, { recordings }: Found, categories: Category[]): void {
  for (const [file, { line, fields }] of sheet.rows) {
    const refuse = (reason: string) => sheet.refused.push({ where: `${SHEET} line ${line}`, reason });
    const { category } = fields;
    const slug = category && slugOf(category, categories);
    if (!recordings.has(file)) {
      refuse(`There is no recording "${file}" in the folder. Correct the name or add the file.`);
    } else if (slug) {
      fields.category = slug;
    } else if (category) {
      const problem = `No category has the slug or name "${category}", or several have that name.`;
      const remedy = `Correct it, or create the category in the dashboard; until then "${file}" is refused.`;
      refuse(`${problem} ${remedy}`);
      sheet.unusable.add(file);
    }
  }
  sheet.refused.sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }));
}

async function readSound(
  file: string,
  source: FoundFile,
  { pictures }: Found,
  sheet: Sheet,
  limits: Catalogue['limits'],
): Promise<Sound> {
  const recording: Recording = await readRecording(file, source, limits.audio);
  const { cover_image_path: named, ...said } = sheet.rows.get(file)?.fields ?? {};
  const notes: string[] = [];
  const picture = await (named
    ? pictureFile(named, pictures, limits.covers)
    : pictureOf(file, recording, pictures, limits.covers)
  ).catch((error: unknown) => {
    notes.push(`No picture: ${asRefused(error).message}`);
    return undefined;
  });
  const fields = { ...recording.fields, ...said, audio_path: recording.audio.path };
  return {
    file,
    fields: picture ? { ...fields, cover_image_path: picture.path } : fields,
    audio: recording.audio,
    ...(picture && { picture }),
    notes,
  };
}
