import { isDeepStrictEqual } from 'node:util';
import type { Csv } from '../read/csv.ts';
import { CategoryRow, categoryFile, rowsOf, SectionRow, sectionFile } from '../read/structure-sheets.ts';
import type { Category, Section } from '../shared/fields.ts';
import { soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';

/** A category or home section to write. */
export type Part = { where: string; action: 'create' | 'update' | 'unchanged' | 'left alone' } & (
  | { category: Category }
  | { section: Section }
);

/** Name of a part in reports. */
export const titleOf = (part: Part) =>
  'category' in part ? `category "${part.category.slug}"` : `home section "${part.section.slug}"`;

function actionFor(stored: object | undefined, row: object, overwrite: boolean): Part['action'] {
  if (!stored) return 'create';
  if (isDeepStrictEqual({ ...stored, ...row }, stored)) return 'unchanged';
  return overwrite ? 'update' : 'left alone';
}

/**
 * Plans the categories of a sheet. Existing ones change only if `overwrite` is set.
 * @returns the categories to write, parents first, and all categories after the import
 */
export function planCategories(
  csv: Csv | undefined,
  stored: Category[],
  overwrite: boolean,
  rejected: Problem[],
): { parts: Part[]; categories: Category[] } {
  const rows = csv ? rowsOf(csv, CategoryRow, rejected) : [];
  const categories = [...stored];
  const parts: Part[] = [];
  for (const { line, row } of rows.toSorted((a, b) => Number(!!a.row.parent) - Number(!!b.row.parent))) {
    const { parent, id, description = null, ...rest } = row;
    const where = `${categoryFile} line ${line}`;
    const above = categories.find(({ slug }) => slug === parent);
    if (parent && (!above || above.parent_id !== null)) {
      const problem = above ? `"${parent}" is a sub-intention itself` : `No category has the slug "${parent}"`;
      rejected.push({ where, reason: `${problem}. Correct the parent.` });
      continue;
    }
    const existing = categories.find((each) => each.id === id || each.slug === row.slug);
    const wanted = { ...rest, description, parent_id: above?.id ?? null };
    const category = { id: existing?.id ?? id ?? soundId('category', parent, row.slug), ...wanted };
    const action = actionFor(existing, wanted, overwrite);
    if (action === 'create') categories.push(category);
    parts.push({ where, action, category });
  }
  return { parts, categories };
}

/** Plans the home sections of a sheet. Existing ones change only if `overwrite` is set. */
export function planSections(csv: Csv, stored: Section[], overwrite: boolean, rejected: Problem[]): Part[] {
  return rowsOf(csv, SectionRow, rejected).map(({ line, row }) => {
    const { id, created_at, ...rest } = row;
    const existing = stored.find((each) => each.id === id || each.slug === row.slug);
    const wanted = { ...rest, rule_type: row.rule_type ?? null, rule_value: row.rule_value ?? null };
    const section: Section = {
      id: existing?.id ?? id ?? soundId('section', row.slug),
      created_at: existing?.created_at ?? created_at ?? new Date().toISOString(),
      ...wanted,
    };
    return { where: `${sectionFile} line ${line}`, action: actionFor(existing, wanted, overwrite), section };
  });
}
