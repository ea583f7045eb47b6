import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { findCategory } from '../project/catalogue.ts';
import { type Category, type Column, columnDefaults, type Fields } from '../shared/fields.ts';
import { ImportError, type Problem } from '../shared/problems.ts';
import { clearCell, type DecimalMark, moment, name, nameInFolder, numberIn, tags, text, truth } from './cells.ts';
import type { Csv, CsvRecord } from './csv.ts';

export const soundFile = 'sounds.csv';

export interface SheetRow {
  line: number;
  /** Name of the recording; undefined for a sound without one. */
  file: string | undefined;
  /** Distinguishes the sounds of one recording; usually empty. */
  key: string;
  /** Values of the columns. The picture is a name in the folder. */
  fields: Omit<Fields, 'audio_path'> & { created_at?: string };
  /** All problems of the line. A line with a problem is rejected. */
  faults: string[];
  /** True if the line cannot be parsed, so that `file` is a guess. */
  isDamaged?: true;
}

export type Sheet = ReturnType<typeof readSheet>;

/** Schemas of the columns that are fields. An empty cell leaves its field unchanged. */
const columnsIn = (mark: DecimalMark): Record<Exclude<Column, 'audio_path'> | 'created_at', z.ZodType> => ({
  title: name,
  description: text,
  bowl_note: text,
  frequency_hz: numberIn(mark),
  duration_sec: numberIn(mark),
  category: name,
  tags,
  cover_image_path: z.string().transform(nameInFolder),
  is_featured: truth,
  is_premium: truth,
  is_active: truth,
  sort_order: numberIn(mark),
  created_at: moment,
});
/** Names of the columns, in the order of an export. */
export const sheetColumns = ['file', 'key', ...Object.keys(columnsIn('.'))];

const example = {
  file: 'bowls/F3 bowl.wav',
  title: 'Singing Bowl in F3',
  description: 'Struck once, left to fade.',
  bowl_note: 'F3',
  frequency_hz: 174.61,
  category: 'singing-bowls',
  tags: 'bowl, deep',
  cover_image_path: 'bowls/F3 bowl.jpg',
  is_featured: 'false',
  is_premium: 'false',
  is_active: 'true',
  sort_order: 10,
};
/** Sheet with the header and an example, for `npm run -s import -- --template`. */
export const template = stringify([example], { header: true, columns: sheetColumns });

/**
 * Reads the sheet of the sounds.
 * @throws ImportError if it has no column "file", because an import without the sheet would use the tags instead
 */
export function readSheet({ name, header, records, decimalMark }: Csv) {
  const columns = `The columns are: ${sheetColumns.join(', ')}.`;
  if (!header.includes('file'))
    throw new ImportError(`${name} has no column "file", which names the recordings. ${columns}`);
  const unknown = header.filter((column) => column && !sheetColumns.includes(column));
  const schema = z.object(columnsIn(decimalMark)).partial();
  return {
    rows: records.map((record) => rowOf(record, schema)),
    rejected: unknown.map((column) => {
      const effect = `The column "${column}" is unknown: its cells are not imported, all others are.`;
      return { where: soundFile, reason: `${effect} Correct its name or delete it. ${columns}` };
    }),
  };
}

function rowOf(record: CsvRecord, schema: z.ZodObject): SheetRow {
  const { line, cells, fault } = record;
  const file = cells['file'] ? nameInFolder(cells['file']) : undefined;
  const row = { line, file, key: cells['key'] ?? '', fields: {} };
  if (fault) return { ...row, faults: [fault], isDamaged: true };
  const { values, data, faults } = parseLine(record, schema);
  if (cells['title'] === clearCell) faults.push('A sound needs a title. Replace the "-" by one');
  if (file === undefined && !cells['title'])
    faults.push('A sound without a recording needs a title. Fill in "file" or "title", or delete the line');
  const cleared = Object.keys(schema.shape).filter((column) => cells[column] === clearCell && column !== 'created_at');
  const defaults = cleared.map((column) => [column, columnDefaults[column as keyof Fields] ?? null]);
  // Check the category of a faulty row, too.
  const fields = { ...(data ?? { category: values['category'] }), ...Object.fromEntries(defaults) };
  return { ...row, key: row.key || (file === undefined ? (fields.title ?? '') : ''), fields, faults };
}

/** Validates the cells of a line. Ignores empty cells and those that clear a field. */
export function parseLine<T extends z.ZodObject>({ cells, fault }: CsvRecord, schema: T) {
  const values = Object.fromEntries(Object.entries(cells).filter(([, cell]) => cell !== '' && cell !== clearCell));
  const { data, error } = schema.safeParse(values);
  const problems = (error?.issues ?? []).map(({ path: [column], message }) => {
    const cell = values[String(column)];
    return cell ? `${String(column)} ${message}: "${cell}"` : `${String(column)} is missing`;
  });
  const faults = fault ? [fault] : [];
  if (!fault && problems.length > 0)
    faults.push(`${problems.join('; ')}. Correct ${problems.length === 1 ? 'it' : 'them'}`);
  return { values, data, faults };
}

/** Removes the rows of the sheet that are faulty, duplicate, or name a missing file or category. */
export function usableRows(
  { rows, rejected: unknownColumns }: Sheet,
  recordings: { has(file: string): boolean },
  categories: Pick<Category, 'slug' | 'name'>[],
) {
  const usable: SheetRow[] = [];
  const rejected: Problem[] = [...unknownColumns];
  /** Recordings with a faulty row, which are not imported until the row is corrected. */
  const unusable = new Set<string>();
  const reject = ({ line }: SheetRow, faults: string[], end: string) =>
    rejected.push({ where: `${soundFile} line ${line}`, reason: `${faults.join('. ')}${end}` });
  for (const row of rows) {
    const { file, key, fields } = row;
    const isMissing = file !== undefined && !recordings.has(file);
    const category = fields.category ?? undefined;
    const slug = category && findCategory(category, categories)?.slug;
    const faults = [...row.faults, ...(category && !slug ? [unknownCategory(category)] : [])];
    const earlier = usable.find((other) => other.file === file && other.key === key);
    if (isMissing && row.isDamaged) reject(row, faults, '.');
    else if (isMissing)
      reject(row, [...faults, `There is no recording "${file}" in the folder`], '. Correct the name or add the file.');
    else if (faults.length > 0) {
      if (file !== undefined) unusable.add(file);
      reject(row, faults, `; until then ${file === undefined ? 'the line' : `"${file}"`} is rejected.`);
    } else if (earlier) {
      const remedy = 'Delete one of the two, or give them different words in the column "key".';
      reject(row, [`"${file ?? key}" is already on line ${earlier.line}, which is used`], `. ${remedy}`);
    } else usable.push({ ...row, fields: { ...fields, ...(slug && { category: slug }) } });
  }
  return { usable, rejected, unusable };
}

const unknownCategory = (text: string) =>
  `No category has the slug or name "${text}", or several have that name. Correct it, or create the category in the dashboard`;
