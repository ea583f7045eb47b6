import { stringify } from 'csv-stringify/sync';
import type { Catalogue, Category, Row } from './catalogue.ts';
import { cellOf } from './cells.ts';
import type { Section } from './sections.ts';
import { NAMES } from './sheet.ts';
import { CATEGORY_COLUMNS, SECTION_COLUMNS } from './structure.ts';

type Value = Parameters<typeof cellOf>[0];

const sheetOf = (columns: string[], rows: Record<string, Value>[]) =>
  stringify(
    rows.map((row) => columns.map((column) => cellOf(row[column] ?? null))),
    // Space at either end would be lost without.
    { header: true, columns, quoted_match: /^\s|\s$|\r/ },
  );

const inUtc = (moment: string) => new Date(moment).toISOString();

/**
 * The sheet of the sounds, in the order of lists. It says everything about them, also what they lack: nothing is taken from the files.
 * @param nameOf what a file of Storage is called in the folder; undefined for one that is missing
 */
export function soundSheet(
  { sounds }: Catalogue,
  nameOf: (bucket: 'audio' | 'covers', path: string | null) => string | undefined,
): string {
  const newestFirst = (a: Row, b: Row) => inUtc(b.created_at).localeCompare(inUtc(a.created_at));
  const inOrder = [...sounds.values()].sort(
    (a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0) || newestFirst(a, b),
  );
  const rows = inOrder.map((row) => ({
    ...row,
    file: nameOf('audio', row.audio_path) ?? '',
    key: row.id,
    cover_image_path: nameOf('covers', row.cover_image_path) ?? null,
    created_at: inUtc(row.created_at),
  }));
  return sheetOf(NAMES, rows);
}

const inDisplayOrder = <T extends { sort_order: number; slug: string }>(rows: T[]) =>
  rows.toSorted((a, b) => a.sort_order - b.sort_order || a.slug.localeCompare(b.slug));

export function categorySheet(categories: Category[]): string {
  const slugs = new Map(categories.map(({ id, slug }) => [id, slug]));
  const rows = inDisplayOrder(categories).map((row) => ({
    ...row,
    parent: slugs.get(row.parent_id ?? '') ?? null,
  }));
  return sheetOf(CATEGORY_COLUMNS, rows);
}

export function sectionSheet(sections: Section[]): string {
  const rows = inDisplayOrder(sections).map((row) => ({ ...row, created_at: inUtc(row.created_at) }));
  return sheetOf(SECTION_COLUMNS, rows);
}
