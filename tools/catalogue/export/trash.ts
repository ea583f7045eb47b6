import type { Catalogue } from '../project/catalogue.ts';
import { type Category, isInTrash, type Row, type Section, trashed } from '../shared/fields.ts';

/**
 * Returns the catalogue without the rows in the trash. Sounds lose a category in the trash. A sub-intention of one is
 * inactive, because without its parent it would become visible.
 */
export function withoutTrash(catalogue: Catalogue): Catalogue {
  const deleted = catalogue.categories.filter(isInTrash);
  const slugs = new Set(deleted.map(({ slug }) => slug));
  const ids = new Set(deleted.map(({ id }) => id));
  const withoutCategory = (row: Row) => (slugs.has(row.category ?? '') ? { ...row, category: null } : row);
  const hidden = (category: Category) =>
    ids.has(category.parent_id ?? '') ? { ...category, is_active: false } : category;
  const sounds = [...catalogue.sounds].filter(([, row]) => !isInTrash(row));
  return {
    ...catalogue,
    sounds: new Map(sounds.map(([id, row]) => [id, withoutCategory(row)])),
    categories: catalogue.categories.filter((category) => !isInTrash(category)).map(hidden),
  };
}

/** Returns a note for each section whose rule names a category in the trash, which the export does not contain. */
export const notesAboutRules = (sections: Section[], categories: Category[]) =>
  sections.flatMap(({ slug, rule_value }) => {
    const deleted = categories.find((category) => category.slug === rule_value && isInTrash(category));
    return deleted
      ? [`The rule of home section "${slug}" names the category "${rule_value}": ${trashed(deleted)}.`]
      : [];
  });
