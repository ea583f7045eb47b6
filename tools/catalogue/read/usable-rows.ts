import type { Problem } from '../shared/problems.ts';
import { SHEET, type Sheet, type SheetRow } from './sheet.ts';

/**
 * Removes the rows of the sheet that are faulty, duplicate, or name a missing file or category.
 * @param slugOf finds a category by its slug or name
 */
export function usableRows(
  { rows, rejected: unknownColumns }: Sheet,
  isRecording: (file: string) => boolean,
  slugOf: (text: string) => string | undefined,
) {
  const usable: SheetRow[] = [];
  const rejected: Problem[] = [...unknownColumns];
  /** Recordings with a faulty row, which are not imported until the row is corrected. */
  const unusable = new Set<string>();
  const reject = ({ line }: SheetRow, faults: string[], end: string) =>
    rejected.push({ where: `${SHEET} line ${line}`, reason: `${faults.join('. ')}${end}` });
  for (const row of rows) {
    const { file, key, fields } = row;
    const isMissing = file !== undefined && !isRecording(file);
    const category = fields.category ?? undefined;
    const slug = category && slugOf(category);
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
