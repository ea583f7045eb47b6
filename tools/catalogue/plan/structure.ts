import { isDeepStrictEqual } from 'node:util';
import type { Csv } from '../read/csv.ts';
import { CategoryRow, categoryFile, rowsOf, SectionRow, sectionFile } from '../read/structure-sheets.ts';
import { type Category, isInTrash, type Row, type Section, trashed } from '../shared/fields.ts';
import { soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';

/** A category or home section to write. `note` explains what is not written. */
export type Part = { where: string; action: 'create' | 'update' | 'unchanged' | 'left alone'; note?: string } & (
  | { category: Category }
  | { section: Section }
);

/** Name of a part in reports. */
export const titleOf = (part: Part) =>
  'category' in part ? `category "${part.category.slug}"` : `home section "${part.section.slug}"`;

function actionFor(stored: Category | Section | undefined, row: object, overwrite: boolean): Part['action'] {
  if (!stored) return 'create';
  if (isInTrash(stored)) return 'left alone';
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
    if (above && isInTrash(above)) {
      rejected.push({ where, reason: `Its parent "${parent}" was ${trashed(above)}.` });
      continue;
    }
    const existing = categories.find((each) => each.id === id || each.slug === row.slug);
    const wanted = { ...rest, description, parent_id: above?.id ?? null };
    const category = { id: existing?.id ?? id ?? soundId('category', parent, row.slug), ...wanted };
    const action = actionFor(existing, wanted, overwrite);
    if (action === 'create') categories.push(category);
    parts.push({ where, action, category, ...(existing && isInTrash(existing) && { note: trashed(existing) }) });
  }
  return { parts, categories };
}

/** Rows in the trash: categories by slug, sounds by id and by the keys that sheets have for them. */
export interface Trash {
  categories: Map<string, Category>;
  sounds: Map<string, Row>;
}

/** Removes sounds that are in the trash, and a new rule about a category in the trash. Returns a note about each. */
function withoutTrash<
  T extends Pick<Section, 'mode' | 'rule_type' | 'rule_value' | 'rule_include_children' | 'sounds'>,
>(section: T, existing: Section | undefined, { categories, sounds }: Trash) {
  const hasRule = existing?.rule_value === section.rule_value;
  const category = hasRule ? undefined : categories.get(section.rule_value ?? '');
  const manual = { mode: 'manual', rule_type: null, rule_value: null, rule_include_children: false };
  const notes = section.sounds.flatMap((key) => {
    const row = sounds.get(key);
    return row ? [`written without the sound "${row.title}": it was ${trashed(row)}`] : [];
  });
  if (category) notes.push(`written without its rule: the category "${category.slug}" was ${trashed(category)}`);
  const kept = { ...section, ...(category && manual), sounds: section.sounds.filter((key) => !sounds.has(key)) };
  return { kept, notes };
}

/** Plans the home sections of a sheet. Existing ones change only if `overwrite` is set. */
export function planSections(
  csv: Csv,
  stored: Section[],
  trash: Trash,
  overwrite: boolean,
  rejected: Problem[],
): Part[] {
  return rowsOf(csv, SectionRow, rejected).map(({ line, row }) => {
    const { id, created_at, ...rest } = row;
    const existing = stored.find((each) => each.id === id || each.slug === row.slug);
    const given = { ...rest, rule_type: row.rule_type ?? null, rule_value: row.rule_value ?? null };
    const { kept: wanted, notes } = withoutTrash(given, existing, trash);
    const where = `${sectionFile} line ${line}`;
    const section: Section = {
      id: existing?.id ?? id ?? soundId('section', row.slug),
      created_at: existing?.created_at ?? created_at ?? new Date().toISOString(),
      ...wanted,
    };
    if (existing && isInTrash(existing)) return { where, action: 'left alone', section, note: trashed(existing) };
    const action = actionFor(existing, wanted, overwrite);
    return { where, action, section, ...(notes.length > 0 && { note: notes.join('; ') }) };
  });
}
