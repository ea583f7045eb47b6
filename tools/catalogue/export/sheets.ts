import { stringify } from 'csv-stringify/sync';
import type { Catalogue } from '../project/catalogue.ts';
import { cellOf } from '../read/cells.ts';
import { sheetColumns } from '../read/sheet.ts';
import { CategoryRow, SectionRow } from '../read/structure-sheets.ts';
import type { Category, Row, Section } from '../shared/fields.ts';

const sheetOf = (columns: string[], rows: Record<string, unknown>[]) =>
  stringify(
    rows.map((row) => columns.map((column) => cellOf(row[column], /^(title|name)$/.test(column)))),
    // Quote these cells, because an import trims unquoted ones.
    { header: true, columns, quoted_match: /^\s|\s$|\r/ },
  );

const inUtc = (moment: string) => new Date(moment).toISOString();

/**
 * Writes the sheet of the sounds in list order. It has all fields, so that an import need not read them from the files.
 * @param files the names of the files that were exported
 */
export function soundSheet({ sounds }: Catalogue, files: { has(name: string): boolean }): string {
  const newestFirst = (a: Row, b: Row) => inUtc(b.created_at).localeCompare(inUtc(a.created_at));
  const inOrder = [...sounds.values()].sort((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0) || newestFirst(a, b));
  const exported = (name: string) => (files.has(name) ? name : undefined);
  const rows = inOrder.map((row) => ({
    ...row,
    file: exported(`audio/${row.audio_path}`) ?? '',
    key: row.id,
    cover_image_path: exported(`covers/${row.cover_image_path}`),
    created_at: inUtc(row.created_at),
  }));
  return sheetOf(sheetColumns, rows);
}

const inDisplayOrder = <T extends { sort_order: number; slug: string }>(rows: T[]) =>
  rows.toSorted((a, b) => a.sort_order - b.sort_order || a.slug.localeCompare(b.slug));

export function categorySheet(categories: Category[]): string {
  const slugs = new Map(categories.map(({ id, slug }) => [id, slug]));
  const rows = inDisplayOrder(categories).map((row) => ({ ...row, parent: slugs.get(row.parent_id ?? '') ?? null }));
  return sheetOf(Object.keys(CategoryRow.shape), rows);
}

export function sectionSheet(sections: Section[]): string {
  const rows = inDisplayOrder(sections).map((row) => ({ ...row, created_at: inUtc(row.created_at) }));
  return sheetOf(Object.keys(SectionRow.shape), rows);
}
