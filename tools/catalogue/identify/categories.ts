import { posix } from 'node:path';
import slugify from '@sindresorhus/slugify';
import { type Category, findCategory, type Imported } from '../project/catalogue.ts';
import { soundId } from '../shared/paths.ts';
import type { Problem } from '../shared/problems.ts';
import { foldersOf, type Sound } from '../shared/sound.ts';

/** Asks for the category of the sounds in a folder: a slug or a name, or nothing for none. */
export type Ask = (question: string) => Promise<string>;

interface Circumstances {
  source: string;
  categories: Category[];
  known: Map<Sound, Imported>;
  /** By folder, what was answered before; null for no category. New answers are added. */
  answers: Record<string, string | null>;
  /** Undefined where there is nobody to ask. */
  ask: Ask | undefined;
  /** Whether categories that are missing are made. */
  make: boolean;
}

/**
 * Gives sounds without a category the one that their folder is named after: the intention of the first folder, or the
 * sub-intention of the second. For a folder that no category is named after, it is asked for, once, when there are new sounds in it.
 * @returns the categories to make, parents first, and what goes without one
 */
export async function assignCategories(
  sounds: Sound[],
  circumstances: Circumstances,
): Promise<{ made: Category[]; notes: Problem[] }> {
  const { make, ask, answers, known } = circumstances;
  const categories = [...circumstances.categories];
  const unknown = new Map<string, Sound[]>();
  for (const sound of sounds.filter((each) => needsCategory(each, circumstances))) {
    const folders = foldersOf(sound.file);
    const [top = ''] = folders;
    const category = make ? madeFor(folders, categories) : categoryOf(folders, categories);
    if (category) sound.fields.category = category.slug;
    else if (!known.has(sound)) unknown.set(top, [...(unknown.get(top) ?? []), sound]);
  }
  const notes: Problem[] = [];
  for (const [folder, sounds] of unknown) {
    const isAnswered = answers[folder] === null || categories.some(({ slug }) => slug === answers[folder]);
    if (!isAnswered && ask && categories.length > 0)
      answers[folder] = await askFor(folder, sounds.length, categories, ask);
    const slug = answers[folder];
    if (slug) for (const { fields } of sounds) fields.category = slug;
    else notes.push(noteAbout(folder, sounds));
  }
  return { made: categories.slice(circumstances.categories.length), notes };
}

/** Whether its folder decides: no sheet has, and no earlier import of the same folder. */
function needsCategory(sound: Sound, { source, known, categories }: Circumstances): boolean {
  const record = known.get(sound);
  const isSaid = sound.said.category !== undefined || record?.said.category !== undefined;
  if (isSaid || foldersOf(sound.file).length === 0) return false;
  const last = record?.fields.category;
  if (!last) return true;
  const place = record.places.find((each) => each.source === source);
  const isMoved = place?.file !== undefined && posix.dirname(place.file) !== posix.dirname(sound.file ?? '');
  // One whose slug was changed since is followed by the sound, wherever that is.
  if (!isMoved && categories.some(({ slug }) => slug === last)) sound.fields.category = last;
  return isMoved;
}

const childrenOf = (parent: Category | undefined, categories: Category[]) =>
  categories.filter(({ parent_id }) => parent_id === (parent?.id ?? null));

function categoryOf([top = '', below]: string[], categories: Category[]): Category | undefined {
  const intention = findCategory(top, categories);
  const sub = intention && below && findCategory(below, childrenOf(intention, categories));
  return sub || intention;
}

/** The same, made where it is missing. */
function madeFor([top = '', below]: string[], categories: Category[]): Category {
  const intention = findCategory(top, categories) ?? makeCategory(top, undefined, categories);
  if (below === undefined || intention.parent_id !== null) return intention;
  return findCategory(below, childrenOf(intention, categories)) ?? makeCategory(below, intention, categories);
}

const LONGEST_SLUG = 100;
const LONGEST_NAME = 200;

function makeCategory(folder: string, parent: Category | undefined, categories: Category[]): Category {
  const id = soundId('category', parent?.slug, folder);
  const words = slugify(folder, { decamelize: false }) || `category-${id.slice(0, 8)}`;
  const sameName = childrenOf(parent, categories).find(({ slug }) => slug === words);
  if (sameName) return sameName;
  const isTaken = categories.some(({ slug }) => slug === words);
  const slug = isTaken ? `${words}-${parent?.slug ?? id.slice(0, 8)}` : words;
  const made: Category = {
    id,
    slug: slug.slice(0, LONGEST_SLUG).replace(/-$/, ''),
    name: folder.trim().slice(0, LONGEST_NAME),
    description: null,
    parent_id: parent?.id ?? null,
    sort_order: 0,
    is_active: true,
  };
  categories.push(made);
  return made;
}

function noteAbout(folder: string, sounds: Sound[]): Problem {
  const reason = `No category: there is none with the slug or name "${folder}". --make-categories makes it.`;
  const where = sounds.length === 1 ? (sounds[0]?.file ?? '') : `${folder}/ (${sounds.length} files)`;
  return { where, reason };
}

async function askFor(
  folder: string,
  count: number,
  categories: Category[],
  ask: Ask,
): Promise<string | null> {
  const sounds = count === 1 ? 'the new sound' : `the ${count} new sounds`;
  const question = `Which category should ${sounds} in "${folder}" have? Type its slug or name, or press Enter for none: `;
  const slugs = categories.map(({ slug }) => slug).join(', ');
  let unknown = folder;
  for (;;) {
    console.log(`There is no category "${unknown}". There are: ${slugs}.`);
    const answer = (await ask(question)).trim();
    if (answer === '') return null;
    const category = findCategory(answer, categories);
    if (category) return category.slug;
    unknown = answer;
  }
}
