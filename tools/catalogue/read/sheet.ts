import { z } from 'zod';
import { DEFAULTS, type Fields } from '../shared/fields.ts';
import { ImportError, type Problem } from '../shared/problems.ts';
import { CLEAR, list, moment, name, nameInFolder, number, text, truth } from './cells.ts';
import { type Cells, type Csv, filled } from './csv.ts';

export const SHEET = 'sounds.csv';

/** What the sheet says about one sound. */
export interface SheetRow {
  line: number;
  /** The recording; undefined for a sound without one. */
  file: string | undefined;
  /** Empty where the recording has one sound. */
  key: string;
  fields: Omit<Fields, 'audio_path' | 'cover_image_path'>;
  /** A picture of the folder; null for none. */
  picture?: string | null;
  createdAt?: string;
}

export interface Sheet {
  rows: SheetRow[];
  rejected: Problem[];
  /** Recordings of which a row cannot be used. */
  unusable: Set<string>;
}

/** How the columns are read; `file` and `key` say which sound it is. An empty cell says nothing. */
const Columns = {
  title: name,
  description: text,
  bowl_note: text,
  frequency_hz: number,
  duration_sec: number,
  category: name,
  tags: list,
  cover_image_path: z.string().transform(nameInFolder),
  is_featured: truth,
  is_active: truth,
  sort_order: number,
  created_at: moment,
};
const Row = z.object(Columns).partial();
/** In the order in which an export writes them. */
export const NAMES = ['file', 'key', ...Object.keys(Columns)];

/** A sheet with the header and an example, for `npm run -s import -- --template`. */
export const TEMPLATE = `${NAMES.join(',')}
bowls/F3 bowl.wav,,Singing Bowl in F3,"Struck once, left to fade.",F3,174.61,,singing-bowls,"bowl, deep",bowls/F3 bowl.jpg,false,true,10,
`;

/**
 * Understands the sheet of the sounds.
 * @throws ImportError when it does not name the recordings: it overrides everything else, so nothing goes on without it
 */
export function readSheet({ name, header, records }: Csv): Sheet {
  const sheet: Sheet = { rows: [], rejected: [], unusable: new Set() };
  const columns = `The columns are: ${NAMES.join(', ')}.`;
  if (!header.includes('file'))
    throw new ImportError(`${name} has no column "file", which names the recordings. ${columns}`);
  for (const unknown of header.filter((column) => column && !NAMES.includes(column))) {
    const reason = `The column "${unknown}" is unknown: its cells are not imported, all others are. Correct its name or delete it. ${columns}`;
    sheet.rejected.push({ where: SHEET, reason });
  }
  for (const { record, info } of records) readRow(sheet, record, info.lines);
  return sheet;
}

function readRow(sheet: Sheet, cells: Cells, line: number): void {
  const { file: named, key = '', ...rest } = cells;
  const file = named ? nameInFolder(named) : undefined;
  const reject = (reason: string, until = '') => {
    sheet.rejected.push({ where: `${SHEET} line ${line}`, reason: `${reason}${until}` });
    if (until && file !== undefined) sheet.unusable.add(file);
  };
  const { success, data, error } = Row.safeParse(
    Object.fromEntries(filled(rest).filter(([, cell]) => cell !== CLEAR)),
  );
  const until = `; until then ${file === undefined ? 'the line' : `"${file}"`} is rejected.`;
  if (!success) {
    const [issue] = error.issues;
    const column = String(issue?.path[0]);
    return void reject(`${column} ${issue?.message}: "${cells[column]}". Correct it`, until);
  }
  if (rest['title'] === CLEAR) return void reject('A sound needs a title. Replace the "-" by one', until);
  const { cover_image_path, created_at, ...said } = data;
  if (file === undefined && !said.title)
    return void reject(
      'A sound without a recording needs a title. Fill in "file" or "title", or delete the line.',
    );
  const row: SheetRow = {
    line,
    file,
    key: key || (file === undefined ? (said.title ?? '') : ''),
    fields: { ...(said as SheetRow['fields']), ...clearedIn(rest) },
    ...(cover_image_path !== undefined && { picture: cover_image_path }),
    ...(rest['cover_image_path'] === CLEAR && { picture: null }),
    ...(created_at !== undefined && { createdAt: created_at }),
  };
  const earlier = sheet.rows.find((other) => other.file === file && other.key === row.key);
  if (earlier) {
    const remedy = 'Delete one of the two, or give them different words in the column "key".';
    return void reject(`"${file ?? row.key}" is already on line ${earlier.line}, which is used. ${remedy}`);
  }
  sheet.rows.push(row);
}

/** The fields that are cleared, as the database has them then. */
function clearedIn(cells: Cells): Fields {
  const cleared = Object.keys(cells).filter(
    (column) =>
      cells[column] === CLEAR &&
      column in Columns &&
      !['title', 'cover_image_path', 'created_at'].includes(column),
  );
  return Object.fromEntries(cleared.map((column) => [column, DEFAULTS[column as keyof Fields] ?? null]));
}
