import { isDeepStrictEqual } from 'node:util';
import type { SupabaseClient } from '@supabase/supabase-js';
import { z } from 'zod';
import type { Category } from './catalogue.ts';
import { CLEAR, list, moment, name, number, text, truth } from './cells.ts';
import { type Csv, filled } from './csv.ts';
import { soundId } from './paths.ts';
import { asRejected, ImportError, type Problem } from './problems.ts';
import { readSections, type Section, writeSection } from './sections.ts';
import { upsertRow } from './write.ts';

// Categories and sections of the home page: the two sheets that an export writes beside that of the sounds.

export const CATEGORY_SHEET = 'categories.csv';
export const SECTION_SHEET = 'home_sections.csv';

const slug = name.refine(
  (text) => text.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text),
  'is not made of lower-case words joined by hyphens',
);
const title = name.refine((text) => text.length <= 200, 'has more than 200 characters');
const integer = number.refine(Number.isInteger, 'is not a whole number');

const CategoryRow = z.object({
  id: z.uuid('is not an id').optional(),
  slug,
  name: title,
  description: text.optional(),
  parent: name.optional(),
  sort_order: integer.default(0),
  is_active: truth.default(true),
});
const SectionRow = z.object({
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

export const CATEGORY_COLUMNS = Object.keys(CategoryRow.shape);
export const SECTION_COLUMNS = Object.keys(SectionRow.shape);

/** A category or section that a sheet describes. */
export interface Part {
  where: string;
  title: string;
  action: 'create' | 'update' | 'unchanged' | 'left alone';
  /** Whether it names sounds, which have to be there first. */
  isLate?: true;
  /** @param idOf the id of the sound that a key stands for */
  carryOut(client: SupabaseClient, idOf: (key: string) => string | undefined): Promise<void>;
}

/** Reads the rows of a sheet; those that are wrong are rejected. */
function rowsOf<T extends z.ZodObject>({ name, records }: Csv, schema: T, rejected: Problem[]) {
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

const actionFor = (stored: object | undefined, row: object, overwrite: boolean): Part['action'] => {
  if (!stored) return 'create';
  const isSame = Object.entries(row).every(([column, value]) =>
    isDeepStrictEqual(value, (stored as Record<string, unknown>)[column]),
  );
  if (isSame) return 'unchanged';
  return overwrite ? 'update' : 'left alone';
};

/**
 * Plans the categories of a sheet. Those that are there keep what they are, unless they are to be overwritten.
 * @returns the categories to write, parents first, and all that there will be
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
    const where = `${CATEGORY_SHEET} line ${line}`;
    const above = categories.find(({ slug }) => slug === parent);
    if (parent && (!above || above.parent_id !== null)) {
      const problem = above
        ? `"${parent}" is a sub-intention itself`
        : `No category has the slug "${parent}"`;
      rejected.push({ where, reason: `${problem}. Correct the parent.` });
      continue;
    }
    const there = categories.find((each) => each.id === id || each.slug === row.slug);
    const wanted = { ...rest, description, parent_id: above?.id ?? null };
    const whole = { id: there?.id ?? id ?? soundId('category', parent, row.slug), ...wanted };
    const action = actionFor(there, wanted, overwrite);
    if (action === 'create') categories.push(whole);
    const carryOut = (client: SupabaseClient) => upsertRow(client, 'categories', whole, 'id');
    parts.push({ where, title: `category "${row.slug}"`, action, carryOut });
  }
  return { parts, categories };
}

/** Plans the sections of a sheet, in the same way. */
export async function planSections(
  csv: Csv | undefined,
  client: SupabaseClient,
  overwrite: boolean,
  rejected: Problem[],
): Promise<Part[]> {
  if (!csv) return [];
  const stored = await readSections(client);
  return rowsOf(csv, SectionRow, rejected).map(({ line, row }) => {
    const { id, created_at, ...rest } = row;
    const there = stored.find((each) => each.id === id || each.slug === row.slug);
    const wanted = { ...rest, rule_type: row.rule_type ?? null, rule_value: row.rule_value ?? null };
    const whole: Section = {
      id: there?.id ?? id ?? soundId('section', row.slug),
      created_at: there?.created_at ?? created_at ?? new Date().toISOString(),
      ...wanted,
    };
    return {
      where: `${SECTION_SHEET} line ${line}`,
      title: `home section "${row.slug}"`,
      action: actionFor(there, wanted, overwrite),
      isLate: true,
      carryOut: (client, idOf) => writeSection(client, whole, idOf),
    };
  });
}

/** Makes a part of categories that folders ask for. */
export const partOf = (category: Category): Part => ({
  where: category.slug,
  title: `category "${category.slug}"`,
  action: 'create',
  carryOut: (client) => upsertRow(client, 'categories', category, 'id'),
});

/**
 * Carries out those that change something.
 * @returns what the database rejected
 * @throws ImportError when it makes no sense to go on
 */
export async function carryOutParts(
  client: SupabaseClient,
  parts: Part[],
  idOf: (key: string) => string | undefined,
): Promise<Problem[]> {
  const rejected: Problem[] = [];
  for (const { action, where, carryOut } of parts) {
    if (action !== 'create' && action !== 'update') continue;
    await carryOut(client, idOf).catch((error: unknown) => {
      if (error instanceof ImportError) throw error;
      rejected.push({ where, reason: asRejected(error).message });
    });
  }
  return rejected;
}
