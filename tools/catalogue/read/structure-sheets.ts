import { z } from 'zod';
import type { Problem } from '../shared/problems.ts';
import { keys, moment, name, numberIn, text, truth } from './cells.ts';
import type { Csv } from './csv.ts';
import { parseLine } from './sheet.ts';

// Reads the sheets of categories and home sections.

export const categoryFile = 'categories.csv';
export const sectionFile = 'home_sections.csv';

const slug = name.refine(
  (text) => text.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text),
  'is not made of lower-case words joined by hyphens',
);
const title = name.refine((text) => [...text].length <= 200, 'has more than 200 characters');
const description = text.refine((text) => [...text].length <= 5000, 'has more than 5000 characters');
const integer = numberIn(',').refine((count) => count === (count | 0), 'is not a whole number');

export const CategoryRow = z.object({
  id: z.uuid('is not an id').optional(),
  slug,
  name: title,
  description: description.optional(),
  parent: name.optional(),
  sort_order: integer.default(0),
  is_active: truth.default(true),
});
export const SectionRow = z
  .object({
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
    sounds: keys.default([]),
  })
  .refine(({ mode, rule_type }) => (mode === 'rule') === (rule_type !== undefined), {
    path: ['rule_type'],
    error: 'belongs to the mode "rule", and only to that',
  })
  .refine(({ rule_type, rule_value }) => (rule_type === 'category') === (rule_value !== undefined), {
    path: ['rule_value'],
    error: 'belongs to the rule_type "category", and only to that',
  });

/** Reads the rows of a sheet and rejects those that are invalid. */
export function rowsOf<T extends z.ZodObject>(
  { name, records }: Csv,
  schema: T,
  rejected: Problem[],
): { line: number; row: z.infer<T> }[] {
  return records.flatMap((record) => {
    const { data, faults } = parseLine(record, schema);
    if (data && faults.length === 0) return [{ line: record.line, row: data }];
    rejected.push({ where: `${name} line ${record.line}`, reason: `${faults.join('. ')}.` });
    return [];
  });
}
