import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import type { Fields } from './fields.ts';
import { ImportError, type Problem } from './problems.ts';

export const SHEET = 'sounds.csv';

/** What the sheet says about one recording. */
export interface SheetRow {
  line: number;
  /** The picture is a file of the folder. */
  fields: Omit<Fields, 'audio_path'>;
}

export interface Sheet {
  rows: Map<string, SheetRow>;
  refused: Problem[];
  /** Recordings whose row cannot be used. */
  unusable: Set<string>;
}

// A comma before three digits may stand for thousands, so that is rejected.
const number = z
  .string()
  .transform((text) => Number(text.replace(/,(?!\d{3}$)/, '.')))
  .refine(Number.isFinite, 'is not a number');
const truth = z.stringbool({ error: 'is neither true nor false' });
// The database composes titles, and what it has is compared with this.
const text = z.string().normalize('NFC').trim();

/** How the columns are read; `file` names the recording. An empty cell says nothing. */
const Columns = {
  title: text,
  description: text,
  bowl_note: text,
  frequency_hz: number,
  duration_sec: number,
  category: text,
  tags: text.transform((cell) =>
    cell
      .replace(/^\{(.*)\}$/, '$1')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
  cover_image_path: text.transform(nameInFolder),
  is_featured: truth,
  is_active: truth,
  sort_order: number,
};
const Row = z.object(Columns).partial();
const NAMES = ['file', ...Object.keys(Columns)];

/** A sheet with the header and an example, for `npm run -s import -- --template`. */
export const TEMPLATE = `${NAMES.join(',')}
bowls/F3 bowl.wav,Singing Bowl in F3,"Struck once, left to fade.",F3,174.61,,singing-bowls,"bowl, deep",bowls/F3 bowl.jpg,false,true,10
`;

/** macOS writes "é" as two characters, Windows a folder with a backslash. */
function nameInFolder(cell: string): string {
  return posix.normalize(cell.replaceAll('\\', '/')).normalize('NFC');
}

/**
 * Reads the sheet at the top of a folder; one that is not there says nothing.
 * @throws ImportError when it cannot be parsed: it overrides everything else, so nothing goes on without it
 */
export async function readSheet(folder: string): Promise<Sheet> {
  const sheet: Sheet = { rows: new Map(), refused: [], unusable: new Set() };
  const bytes = await readFile(join(folder, SHEET)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ImportError(`${SHEET} cannot be read (${error.code}). Make it readable, or remove it.`);
  });
  if (!bytes) return sheet;
  const { header, records } = parseSheet(bytes);
  const columns = `The columns are: ${NAMES.join(', ')}.`;
  if (!header.includes('file'))
    throw new ImportError(`${SHEET} has no column "file", which names the recordings. ${columns}`);
  for (const name of header.filter((name) => name && !NAMES.includes(name))) {
    const reason = `The column "${name}" is unknown: its cells are not imported, all others are. Correct its name or delete it. ${columns}`;
    sheet.refused.push({ where: SHEET, reason });
  }
  for (const { record, info } of records) readRow(sheet, record, info.lines);
  return sheet;
}

type Cells = Record<string, string>;

function parseSheet(bytes: Buffer): {
  header: string[];
  records: { record: Cells; info: { lines: number } }[];
} {
  let header: string[] = [];
  try {
    const sheet = new TextDecoder('utf-8', { fatal: true })
      .decode(bytes)
      // What npm says before --template when it is run without -s.
      .replace(/^(\s*>.*\n)+\s*/, '');
    const records = parse(sheet, {
      // Names of columns hold none of these.
      delimiter: /[,;\t]/.exec(sheet)?.[0] ?? ',',
      columns: (names: string[]) => {
        header = names.map((name) => name.toLowerCase());
        return header;
      },
      info: true,
      trim: true,
      skip_records_with_empty_values: true,
      relax_column_count_less: true,
    }) as unknown as { record: Cells; info: { lines: number } }[];
    return { header, records };
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not in UTF-8' : (error as Error).message;
    throw new ImportError(`${SHEET} cannot be parsed: ${reason}. Save it as "CSV UTF-8", or remove it.`);
  }
}

function readRow(sheet: Sheet, cells: Cells, line: number): void {
  const refuse = (reason: string) => sheet.refused.push({ where: `${SHEET} line ${line}`, reason });
  const { file: named, ...rest } = cells;
  if (!named) return void refuse('The column "file" is empty. Fill it in, or delete the line.');
  const file = nameInFolder(named);
  const earlier = sheet.rows.get(file);
  if (earlier)
    return void refuse(`"${file}" is already on line ${earlier.line}, which is used. Delete one of the two.`);
  const { success, data, error } = Row.safeParse(
    Object.fromEntries(Object.entries(rest).filter(([, cell]) => cell !== '')),
  );
  if (success) return void sheet.rows.set(file, { line, fields: data as SheetRow['fields'] });
  const [issue] = error.issues;
  const column = String(issue?.path[0]);
  refuse(`${column} ${issue?.message}: "${cells[column]}". Correct it; until then "${file}" is refused.`);
  sheet.unusable.add(file);
}
