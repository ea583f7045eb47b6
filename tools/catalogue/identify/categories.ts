import { posix } from 'node:path';
import slugify from '@sindresorhus/slugify';
import { comparable, findCategory, type Imported } from '../project/catalogue.ts';
import type { Category } from '../shared/fields.ts';
import { soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { foldersOf, type Sound } from '../shared/sound.ts';
import { oneLine, oneOrMany, printable } from '../shared/text.ts';

type Ask = (question: string) => Promise<string>;

interface Circumstances {
  source: string;
  categories: Category[];
  known: Map<Sound, Imported>;
  /** Earlier answers by folder; null for no category. New answers are added. */
  answers: Record<string, string | null>;
  /** Asks for a slug or a name. Undefined without a terminal. */
  ask: Ask | undefined;
  /** Creates missing categories. */
  make: boolean;
}

/**
 * Assigns a category to sounds that have none: the intention that their first folder names, or the sub-intention that
 * their second folder names. Asks once for each folder with new sounds that names no category.
 * @returns the categories to make, parents first, and notes about sounds without one
 */
export async function assignCategories(sounds: Sound[], circumstances: Circumstances) {
  const { make, ask, answers, known } = circumstances;
  const categories = [...circumstances.categories];
  const findOrMake = make ? categoryMaker(categories) : undefined;
  const open = sounds.filter((sound) => needsCategory(sound, circumstances));
  for (const { file, fields } of open) {
    const category = findOrMake?.(foldersOf(file)) ?? categoryOf(foldersOf(file), categories);
    if (category) fields.category = category.slug;
  }
  const unknown = open.filter((sound) => !sound.fields.category && !known.has(sound));
  const notes: Problem[] = [];
  for (const [folder = '', sounds] of Map.groupBy(unknown, ({ file }) => foldersOf(file)[0])) {
    const isAnswered = answers[folder] === null || categories.some(({ slug }) => slug === answers[folder]);
    if (!isAnswered && ask && categories.length > 0)
      answers[folder] = await askFor(folder, sounds.length, categories, ask);
    const slug = answers[folder];
    if (slug) for (const { fields } of sounds) fields.category = slug;
    else {
      const reason = `No category has the slug or name "${folder}". Add --make-categories to make it.`;
      const files = sounds.map(({ file = '' }) => file);
      notes.push({ where: oneOrMany(files, `${folder}/ (${files.length} files)`), reason });
    }
  }
  return { made: categories.slice(circumstances.categories.length), notes };
}

/** Returns whether the folder determines the category, because neither a sheet nor an earlier import does. */
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
function categoryMaker(categories: Category[]) {
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
    const isLowest = below === undefined || intention.parent_id !== null;
    return isLowest ? intention : findOrMake(below, intention);
  };
}

const LONGEST_SLUG = 100;

/** Makes an unused slug. Appends a part of the id if letters of the name are lost, such as those of Chinese. */
function newSlug(folder: string, parent: Category | undefined, id: string, categories: Category[]): string {
  const slugOf = (text: string) => slugify(text, { decamelize: false });
  const words = slugOf(folder)
    .slice(0, LONGEST_SLUG - 9)
    .replace(/-$/, '');
  const isLossy = [...folder].some((character) => /[\p{L}\p{N}\p{S}#]/u.test(character) && slugOf(character) === '');
  const below = `${words}-${parent?.slug ?? ''}`;
  const candidates = isLossy || words === '' ? [] : parent ? [words, below] : [words];
  const isFree = (slug: string) => slug.length <= LONGEST_SLUG && !categories.some((each) => each.slug === slug);
  return candidates.find(isFree) ?? `${words || 'category'}-${id.slice(0, 8)}`;
}

async function askFor(folder: string, count: number, categories: Category[], ask: Ask): Promise<string | null> {
  const sounds = count === 1 ? 'the new sound' : `the ${count} new sounds`;
  const question = `Which category should ${sounds} in "${printable(folder)}" have? Type its slug or name, or press Enter for none: `;
  const slugs = categories.map(({ slug }) => slug).join(', ');
  let unknown = folder;
  for (;;) {
    console.log(`There is no category "${printable(unknown)}". Type one of: ${slugs}.`);
    const answer = (await ask(question)).trim();
    if (answer === '') return null;
    const category = findCategory(answer, categories);
    if (category) return category.slug;
    unknown = answer;
  }
}
