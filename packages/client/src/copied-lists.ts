import type { CopiedSound, Copy } from './catalogue-copy.ts';
import type { Category, HomeSection } from './resources.ts';
import type { Schema } from './schema.ts';

/** Filters of GET /sounds that the copy supports. */
export interface OfflineFilters {
  category?: string;
  /** Includes sounds of the sub-intentions of `category`. */
  include_children?: boolean;
  featured?: boolean;
  /** Tags, all of which a sound must have. */
  tags?: string[];
}

const byOrder = (a: { sort_order: number }, b: { sort_order: number }) => a.sort_order - b.sort_order;

/** Sorts by position in the list, then by creation, newest first. */
export const inListOrder = (copy: Copy): CopiedSound[] =>
  Object.values(copy.sound).sort((a, b) => byOrder(a, b) || (a.created_at < b.created_at ? 1 : -1));

const categoriesIn = (copy: Copy) =>
  Object.values(copy.category).sort((a, b) => byOrder(a, b) || a.name.localeCompare(b.name));

/** Returns all matching sounds, in the order of GET /sounds. */
export function soundsOf(copy: Copy, { category, include_children, featured, tags = [] }: OfflineFilters) {
  const all = categoriesIn(copy);
  const parent = all.find(({ slug }) => slug === category)?.id;
  const slugs = new Set([category]);
  for (const child of all) if (include_children && child.parent_id === parent) slugs.add(child.slug);
  return inListOrder(copy).filter(
    (sound) =>
      (category === undefined || slugs.has(sound.category ?? '')) &&
      (featured === undefined || sound.is_featured === featured) &&
      tags.every((tag) => sound.tags?.some((own) => own.normalize() === tag.normalize())),
  );
}

/** Returns the tree of categories. */
export function treeOf(copy: Copy): Category[] {
  const all = categoriesIn(copy);
  const under = (parent: string | null): Schema<'SubCategory'>[] => all.filter(({ parent_id }) => parent_id === parent);
  return under(null).map((category) => ({ ...category, children: under(category.id) }));
}

/** Returns the sections of the home page. */
export function sectionsOf({ sound, home_section }: Copy): HomeSection[] {
  const sections = Object.values(home_section).sort((a, b) => byOrder(a, b) || (a.created_at < b.created_at ? -1 : 1));
  return sections.map(({ sound_ids, ...section }) => ({
    ...section,
    sounds: sound_ids.flatMap((id) => sound[id] ?? []),
  }));
}
