import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { type Column, DEFAULTS, type Fields } from '../shared/fields.ts';
import { ImportError, type Problem } from '../shared/problems.ts';
import { CLEAR, moment, name, nameInFolder, numberIn, tags, text, truth } from './cells.ts';
import { type Cells, type Csv, type CsvRecord, filled } from './csv.ts';

export const SHEET = 'sounds.csv';

export interface SheetRow {
  line: number;
  /** Name of the recording; undefined for a sound without one. */
  file: string | undefined;
  /** Distinguishes the sounds of one recording; usually empty. */
  key: string;
  fields: Omit<Fields, 'audio_path' | 'cover_image_path'>;
  /** Name of a picture in the folder; null for none. */
  picture?: string | null;
  createdAt?: string;
  /** All problems of the line. A line with a problem is rejected. */
  faults: string[];
  /** True if the line cannot be parsed, so that `file` is a guess. */
  isDamaged?: true;
}

export interface Sheet {
  rows: SheetRow[];
  rejected: Problem[];
}

/** Schemas of the columns that are fields. An empty cell leaves its field unchanged. */
const columnsIn = (hasDecimalCommas: boolean): Record<Exclude<Column, 'audio_path'> | 'created_at', z.ZodType> => ({
  title: name,
  description: text,
  bowl_note: text,
  frequency_hz: numberIn(hasDecimalCommas),
  duration_sec: numberIn(hasDecimalCommas),
  category: name,
  tags,
  cover_image_path: z.string().transform(nameInFolder),
  is_featured: truth,
  is_premium: truth,
  is_active: truth,
  sort_order: numberIn(hasDecimalCommas),
  created_at: moment,
});
const COLUMNS = Object.keys(columnsIn(false));
/** Names of the columns, in the order of an export. */
export const NAMES = ['file', 'key', ...COLUMNS];

/** Sheet with the header and an example, for `npm run -s import -- --template`. */
export const TEMPLATE = stringify(
  [
    {
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
    },
  ],
  { header: true, columns: NAMES },
);

/**
 * Reads the sheet of the sounds.
 * @throws ImportError if it has no column "file", because a sheet overrides the tags of files
 */
export function readSheet({ name, header, records, hasDecimalCommas }: Csv): Sheet {
  const columns = `The columns are: ${NAMES.join(', ')}.`;
  if (!header.includes('file'))
    throw new ImportError(`${name} has no column "file", which names the recordings. ${columns}`);
  const unknown = header.filter((column) => column && !NAMES.includes(column));
  const schema = z.object(columnsIn(hasDecimalCommas)).partial();
  return {
    rows: records.map((record) => rowOf(record, schema)),
    rejected: unknown.map((column) => {
      const effect = `The column "${column}" is unknown: its cells are not imported, all others are.`;
      return { where: SHEET, reason: `${effect} Correct its name or delete it. ${columns}` };
    }),
  };
}

function rowOf({ line, cells, fault }: CsvRecord, schema: z.ZodObject): SheetRow {
  const { file: named, key = '', ...rest } = cells;
  const file = named ? nameInFolder(named) : undefined;
  const row = { line, file, key, fields: {} };
  if (fault) return { ...row, faults: [fault], isDamaged: true };
  const values = Object.fromEntries(filled(rest).filter(([, cell]) => cell !== CLEAR));
  // Check the category of a faulty row, too.
  const { data = { category: values['category'] }, error } = schema.safeParse(values);
  const faults = faultsIn(error, cells);
  if (rest['title'] === CLEAR) faults.push('A sound needs a title. Replace the "-" by one');
  if (file === undefined && !rest['title'])
    faults.push('A sound without a recording needs a title. Fill in "file" or "title", or delete the line');
  const { cover_image_path, created_at, ...fields } = data as Fields & { created_at?: string };
  return {
    ...row,
    key: key || (file === undefined ? (fields.title ?? '') : ''),
    fields: { ...fields, ...clearedIn(rest) },
    ...(cover_image_path !== undefined && { picture: cover_image_path }),
    ...(rest['cover_image_path'] === CLEAR && { picture: null }),
    ...(created_at !== undefined && { createdAt: created_at }),
    faults,
  };
}

/** Lists the problems of the cells of a row. */
export function faultsIn(error: z.ZodError | undefined, cells: Cells): string[] {
  const faults = (error?.issues ?? []).map(({ path: [column], message }) => {
    const cell = cells[String(column)];
    return cell ? `${String(column)} ${message}: "${cell}"` : `${String(column)} is missing`;
  });
  return faults.length > 0 ? [`${faults.join('; ')}. Correct ${faults.length === 1 ? 'it' : 'them'}`] : [];
}

/** Returns the database values of cleared fields. */
function clearedIn(cells: Cells): Fields {
  const cleared = COLUMNS.filter(
    (column) => cells[column] === CLEAR && !['title', 'cover_image_path', 'created_at'].includes(column),
  );
  return Object.fromEntries(cleared.map((column) => [column, DEFAULTS[column as keyof Fields] ?? null]));
}
