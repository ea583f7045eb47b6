import { z } from 'zod';
import type { Problem } from '../shared/problems.ts';
import { CLEAR, list, moment, name, number, text, truth } from './cells.ts';
import { type Csv, filled } from './csv.ts';

// The sheets of categories and home sections, which an export writes beside that of the sounds.

export const CATEGORY_SHEET = 'categories.csv';
export const SECTION_SHEET = 'home_sections.csv';

const slug = name.refine(
  (text) => text.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text),
  'is not made of lower-case words joined by hyphens',
);
const title = name.refine((text) => text.length <= 200, 'has more than 200 characters');
const integer = number.refine(Number.isInteger, 'is not a whole number');

export const CategoryRow = z.object({
  id: z.uuid('is not an id').optional(),
  slug,
  name: title,
  description: text.optional(),
  parent: name.optional(),
  sort_order: integer.default(0),
  is_active: truth.default(true),
});
export const SectionRow = z.object({
  id: z.uuid('is not an id').optional(),
  slug,
  title,
  mode: z.enum(['manual', 'rule'], 'is neither manual nor rule').default('manual'),
  rule_type: z.enum(['category', 'featured', 'newest'], 'is no type of rule').optional(),
  rule_value: name.optional(),
  rule_include_children: truth.default(false),
  item_limit: integer.refine((count) => count >= 1 && count <= 100, 'is not 1 to 100').default(20),
  sort_order: integer.default(0),
  is_active: truth.default(true),
  created_at: moment.optional(),
  sounds: list.default([]),
});

/** Reads the rows of a sheet and rejects those that are invalid. */
export function rowsOf<T extends z.ZodObject>(
  { name, records }: Csv,
  schema: T,
  rejected: Problem[],
): { line: number; row: z.infer<T> }[] {
  const rows: { line: number; row: z.infer<T> }[] = [];
  for (const { record, info } of records) {
    const cells = Object.fromEntries(filled(record).filter(([, cell]) => cell !== CLEAR));
    const { success, data, error } = schema.safeParse(cells);
    const [issue] = error?.issues ?? [];
    const column = String(issue?.path[0]);
    const problem = column in cells ? `${issue?.message}: "${cells[column]}"` : 'is missing';
    if (success) rows.push({ line: info.lines, row: data });
    else rejected.push({ where: `${name} line ${info.lines}`, reason: `${column} ${problem}. Correct it.` });
  }
  return rows;
}
