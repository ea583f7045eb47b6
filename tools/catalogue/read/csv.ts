import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { ImportError } from '../shared/problems.ts';
import { type DecimalMark, decimalMarkOf, isErrorValue } from './cells.ts';

export interface CsvRecord {
  line: number;
  /** Cells by the names of their columns in lower case. */
  cells: Record<string, string>;
  /** Reason why the line cannot be used. */
  fault?: string;
}

export interface Csv {
  name: string;
  header: string[];
  records: CsvRecord[];
  decimalMark: DecimalMark;
}

/** Tells whether a file is a spreadsheet of any program. */
export const isSheet = (file: string) => /\.(csv|tsv|xlsx?|xlsm|ods|numbers)$/i.test(file) && !file.startsWith('~$');

/** First line of a sheet from Excel that names the delimiter. */
const separatorLine = /^"?sep=(.)"?(?=\r|\n|$)/i;

/** Matches white space and invisible characters at both ends. */
const invisibleEnds = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;

/**
 * Reads a sheet of a folder. Its delimiter is a comma, semicolon or tab; a byte-order mark is allowed.
 * @throws ImportError if it cannot be read
 */
export async function readCsv(folder: string, name: string): Promise<Csv> {
  const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(`${name} cannot be read (${error.code}). Make it readable, or remove it.`);
  });
  if (!isUtf8(bytes)) throw new ImportError(`${name} is not in UTF-8. Save it as "CSV UTF-8", or remove it.`);
  // Remove byte-order marks and the like, and the lines that npm prints before --template if it runs without -s.
  const content = bytes
    .toString()
    .replace(/^\p{Cf}+/u, '')
    .replace(/^(\s*>.*\n)+\s*/, '');
  const text = content.replace(separatorLine, '');
  // The first delimiter in the header decides, because names of columns contain none.
  const delimiter = separatorLine.exec(content)?.[1] ?? /[,;\t]/.exec(text)?.[0] ?? ',';
  const [first, ...rows] = rowsIn(text, delimiter);
  if (first?.fault) throw new ImportError(`The header of ${name} is damaged. ${first.fault}`);
  const header = (first?.cells ?? []).map((column) => column.replace(invisibleEnds, '').toLowerCase());
  const twice = header.find((column, index) => column && header.indexOf(column) < index);
  if (twice) throw new ImportError(`${name} has two columns "${twice}". Rename or delete one.`);
  const cells = rows.flatMap((row) => row.cells);
  const decimalMark = decimalMarkOf(delimiter, cells);
  return { name, header, records: rows.map((row) => recordOf(row, header)), decimalMark };
}

type RawRow = Omit<CsvRecord, 'cells'> & { cells: string[] };

const unmatchedQuote = 'It has an unmatched quote ("). Put the whole cell in quotes, and write "" for a quote in it';

/** Splits a sheet into rows. Continues after a line that cannot be parsed. */
function rowsIn(text: string, delimiter: string): RawRow[] {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const rows: RawRow[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    try {
      parse(lines.slice(start).join(''), {
        delimiter,
        trim: true,
        skip_records_with_empty_values: true,
        relax_column_count: true,
        on_record: (cells: string[], context) => {
          end = start + context.lines;
          rows.push({ line: end, cells });
        },
      });
      return rows;
    } catch {
      while (lines[end]?.trim() === '') end++;
      const cells = (lines[end] ?? '').split(delimiter).map((cell) => cell.replace(/["\r\n]/g, '').trim());
      rows.push({ line: end + 1, cells, fault: unmatchedQuote });
      start = end + 1;
    }
  }
  return rows;
}

function recordOf({ line, cells, fault }: RawRow, header: string[]): CsvRecord {
  const record = Object.fromEntries(header.map((column, index) => [column, cells[index] ?? '']));
  const faults = fault ? [fault] : [];
  if (!fault && cells.slice(header.length).some((cell) => cell !== '')) {
    const counts = `It has ${cells.length} cells, and the header has ${header.length} columns`;
    faults.push(`${counts}. Put each cell that contains the delimiter in quotes`);
  }
  for (const [column, cell] of Object.entries(record)) {
    if (cell.includes('\0')) faults.push(`${column} contains a NUL character, which cannot be stored. Delete it`);
    if (isErrorValue(cell))
      faults.push(`${column} is "${cell}", an error of the spreadsheet. Correct it, or write "\\${cell}" for the text`);
  }
  return { line, cells: record, ...(faults.length > 0 && { fault: faults.join('. ') }) };
}
