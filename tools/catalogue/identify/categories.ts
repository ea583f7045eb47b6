import { posix } from 'node:path';
import slugify from '@sindresorhus/slugify';
import { comparable, type Imported } from '../project/catalogue.ts';
import { soundFile } from '../read/sheet.ts';
import { type Category, isInTrash } from '../shared/fields.ts';
import { soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { foldersOf, type Sound } from '../shared/sound.ts';
import { oneLine, oneOrMany } from '../shared/text.ts';

interface Circumstances {
  source: string;
  categories: Category[];
  known: Map<Sound, Imported>;
  /** Creates missing categories. */
  make: boolean;
}

/**
 * Assigns a category to sounds that have none: the intention that their first folder names, or the sub-intention that
 * their second folder names.
 * @returns the categories to make, parents first, and notes about sounds without one
 */
export function assignCategories(sounds: Sound[], circumstances: Circumstances) {
  const { make, known } = circumstances;
  const categories = [...circumstances.categories];
  const findOrMake = make ? createCategoryMaker(categories) : undefined;
  const open = sounds.filter((sound) => needsCategory(sound, circumstances));
  for (const { file, fields } of open) {
    const category = findOrMake?.(foldersOf(file)) ?? categoryOf(foldersOf(file), categories);
    if (category) fields.category = category.slug;
  }
  const unknown = open.filter((sound) => !sound.fields.category && !known.has(sound));
  const notes = [...Map.groupBy(unknown, ({ file }) => foldersOf(file)[0])].map(([folder = '', sounds]): Problem => {
    const files = sounds.map(({ file = '' }) => file);
    const remedy = `Add --make-categories to make it, or enter another in the column "category" of ${soundFile}.`;
    return {
      where: oneOrMany(files, `${folder}/ (${files.length} files)`),
      reason: `No category has the slug or name "${folder}". ${remedy}`,
    };
  });
  return { made: categories.slice(circumstances.categories.length), notes };
}

/** Tells whether the folder determines the category, because neither a sheet nor an earlier import does. */
function needsCategory(sound: Sound, { source, known, categories }: Circumstances): boolean {
  const record = known.get(sound);
  const isSaid = sound.sheetFields.category !== undefined || record?.said.category !== undefined;
  if (isSaid || foldersOf(sound.file).length === 0) return false;
  const last = record?.fields.category;
  if (!last) return true;
  const place = record.places.find((each) => each.source === source);
  const isMoved = place?.file !== undefined && posix.dirname(place.file) !== posix.dirname(sound.file ?? '');
  // Keep the last category, unless its slug has changed.
  if (!isMoved && categories.some(({ slug }) => slug === last)) sound.fields.category = last;
  return isMoved;
}

const childrenOf = (parent: Category | undefined, categories: Category[]) =>
  categories.filter(({ parent_id }) => parent_id === (parent?.id ?? null));

/**
 * Finds the category that a folder names. Compares names before slugs, because several names can have one slug.
 * @param stored the categories to find by their slugs
 */
function categoryNamed(folder: string, categories: Category[], stored = categories): Category | undefined {
  const named = categories.filter(({ name }) => comparable(name) === comparable(oneLine(folder)));
  const words = comparable(folder).replace(/[\s_]+/g, '-');
  return named.length === 1 ? named[0] : stored.find(({ slug }) => slug === words);
}

function categoryOf([top = '', below]: string[], categories: Category[]): Category | undefined {
  const intention = categoryNamed(top, childrenOf(undefined, categories)) ?? categoryNamed(top, categories);
  const sub = intention && below && categoryNamed(below, childrenOf(intention, categories));
  return sub || intention;
}

/**
 * Returns a function that finds or makes the category of a folder. It finds categories made in this run only by name,
 * so that two names never become one category.
 * @param categories existing categories; new ones are added
 */
function createCategoryMaker(categories: Category[]) {
  const stored = [...categories];
  const findOrMake = (folder: string, parent: Category | undefined): Category => {
    const id = soundId('category', parent?.slug, folder);
    const found =
      categories.find((category) => category.id === id) ??
      categoryNamed(folder, childrenOf(parent, categories), childrenOf(parent, stored)) ??
      (parent ? undefined : categoryNamed(folder, stored));
    if (found) return found;
    const made: Category = {
      id,
      slug: newSlug(folder, parent, id, categories),
      name: oneLine(folder).slice(0, 200),
      description: null,
      parent_id: parent?.id ?? null,
      sort_order: 0,
      is_active: true,
    };
    categories.push(made);
    return made;
  };
  return ([top = '', below]: string[]): Category => {
    const intention = findOrMake(top, undefined);
    const isLowest = below === undefined || intention.parent_id !== null || isInTrash(intention);
    return isLowest ? intention : findOrMake(below, intention);
  };
}

const longestSlug = 100;

/** Makes an unused slug. Appends a part of the id if letters of the name are lost, such as those of Chinese. */
function newSlug(folder: string, parent: Category | undefined, id: string, categories: Category[]): string {
  const slugOf = (text: string) => slugify(text, { decamelize: false });
  const words = slugOf(folder)
    .slice(0, longestSlug - 9)
    .replace(/-$/, '');
  const isLossy = [...folder].some((character) => /[\p{L}\p{N}\p{S}#]/u.test(character) && slugOf(character) === '');
  const below = `${words}-${parent?.slug ?? ''}`;
  const candidates = isLossy || words === '' ? [] : parent ? [words, below] : [words];
  const isFree = (slug: string) => slug.length <= longestSlug && !categories.some((each) => each.slug === slug);
  return candidates.find(isFree) ?? `${words || 'category'}-${id.slice(0, 8)}`;
}
