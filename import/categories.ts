import { posix } from 'node:path';
import type { Category } from './catalogue.ts';
import type { Sound } from './gather.ts';

/** Asks for the category of the sounds in a folder: a slug or a name, or nothing for none. */
export type Ask = (question: string) => Promise<string>;

/**
 * Gives sounds without a category the one that their first folder is named after. For a folder that no category is named after,
 * it is asked for, once, when there are new sounds in it.
 * @param ask undefined where there is nobody to ask
 */
export async function assignCategories(
  sounds: Sound[],
  categories: Category[],
  isNew: (sound: Sound) => boolean,
  ask: Ask | undefined,
): Promise<void> {
  const unknown = new Map<string, Sound[]>();
  for (const sound of sounds) {
    if (sound.fields.category !== undefined) continue;
    const [folder = ''] = posix.dirname(sound.file).split('/');
    const slug = slugOf(folder, categories);
    if (slug !== undefined) sound.fields.category = slug;
    else if (folder !== '.' && isNew(sound)) unknown.set(folder, [...(unknown.get(folder) ?? []), sound]);
  }
  for (const [folder, sounds] of unknown) {
    const slug = ask && (await askFor(folder, sounds.length, categories, ask));
    for (const { fields, notes } of sounds) {
      if (slug !== undefined) fields.category = slug;
      else notes.push(`No category: there is none with the slug or name "${folder}".`);
    }
  }
}

/** The category that is meant by a slug or a name; undefined when there is none, or several. */
export function slugOf(text: string, categories: Category[]): string | undefined {
  const wanted = text.trim().toLowerCase();
  const bySlug = categories.find(({ slug }) => slug === wanted);
  const byName = categories.filter(({ name }) => name.normalize('NFC').toLowerCase() === wanted);
  return bySlug?.slug ?? (byName.length === 1 ? byName[0]?.slug : undefined);
}

async function askFor(
  folder: string,
  count: number,
  categories: Category[],
  ask: Ask,
): Promise<string | undefined> {
  if (categories.length === 0) return undefined;
  const sounds = count === 1 ? 'the new sound' : `the ${count} new sounds`;
  const question = `Which category should ${sounds} in "${folder}" have? Type its slug or name, or press Enter for none: `;
  const slugs = categories.map(({ slug }) => slug).join(', ');
  let unknown = folder;
  for (;;) {
    console.log(`There is no category "${unknown}". There are: ${slugs}.`);
    const answer = (await ask(question)).trim();
    if (answer === '') return undefined;
    const slug = slugOf(answer, categories);
    if (slug !== undefined) return slug;
    unknown = answer;
  }
}
