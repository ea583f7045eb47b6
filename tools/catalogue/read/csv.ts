import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { ImportError } from '../shared/problems.ts';

export type Cells = Record<string, string>;

export interface Csv {
  /** As the file is called in the folder. */
  name: string;
  /** In lower case. */
  header: string[];
  records: { record: Cells; info: { lines: number } }[];
}

/** Whether a file can be a sheet, of this or of another program. */
export const isSheet = (file: string) =>
  /\.(csv|tsv|xlsx?|xlsm|ods|numbers)$/i.test(file) && !file.startsWith('~$');

/** Which of these files is a sheet of that name, in whatever case. */
export function sheetNamed(name: string, files: string[]): string | undefined {
  return files.includes(name) ? name : files.find((file) => file.toLowerCase() === name);
}

/**
 * Reads a sheet in a folder: with commas, semicolons or tabs, with or without a byte-order mark.
 * @throws ImportError when it cannot be read or parsed
 */
export async function readCsv(folder: string, name: string): Promise<Csv> {
  const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(`${name} cannot be read (${error.code}). Make it readable, or remove it.`);
  });
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
    }) as unknown as Csv['records'];
    return { name, header, records };
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not in UTF-8' : (error as Error).message;
    throw new ImportError(`${name} cannot be parsed: ${reason}. Save it as "CSV UTF-8", or remove it.`);
  }
}

/** The cells that say something. */
export const filled = (cells: Cells) => Object.entries(cells).filter(([, cell]) => cell !== '');
