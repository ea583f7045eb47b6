import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { encode, ffmpeg, importFolder, makeFolder, soundsIn } from './folder.ts';

describe('folders', () => {
  test('make intentions and sub-intentions with --make-categories, and sounds of later imports find them', async ({
    sql,
  }) => {
    const name = `Rain ${newSlug('on')}`;
    const [slug, sub] = [name.toLowerCase().replace(' ', '-'), newSlug('roofs')];
    const folder = await makeFolder({
      [`${name}/a.wav`]: tone(),
      [`${name}/${sub}/b.wav`]: tone(),
      [`${name}/${sub}/deeper/c.wav`]: tone(),
    });
    const dry = await importFolder(folder, '--make-categories', '--dry-run');
    expect(dry.stdout).toMatch(new RegExp(`new +${slug} +category "${slug}"`));
    expect(await sql`select from public.categories where slug = ${slug}`).toEqual([]);
    expect((await importFolder(folder, '--make-categories')).code).toBe(0);
    const [intention] = await sql`select id, name, parent_id from public.categories where slug = ${slug}`;
    expect(intention).toMatchObject({ name, parent_id: null });
    const [below] = await sql`select name, parent_id from public.categories where slug = ${sub}`;
    expect(below).toEqual({ name: sub, parent_id: intention?.['id'] });
    expect((await soundsIn(sql, slug)).map(({ title }) => title)).toEqual(['A']);
    expect((await soundsIn(sql, sub)).map(({ title }) => title)).toEqual(['B', 'C']);

    const more = await makeFolder({ [`${name}/${sub}/d.wav`]: tone() });
    await importFolder(more);
    expect((await soundsIn(sql, sub)).map(({ title }) => title)).toEqual(['D', 'B', 'C']);
  });

  test('that lack a category, and files that iPhones do not play, are one note each', async ({
    sql,
    skip,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
    await addCategory(sql);
    const unknown = newSlug('kalimba');
    const folder = await makeFolder({ [`${unknown}/a.wav`]: tone(), [`${unknown}/b.wav`]: tone() });
    for (const extension of ['ogg', 'opus', 'webm'])
      await encode(folder, `${unknown}/c.${extension}`, tone());
    const { code, stdout } = await importFolder(folder, '--dry-run');
    expect(code).toBe(0);
    expect(stdout.match(/^note .*/gm)).toEqual([
      expect.stringMatching(/^note +3 files +iPhones do not play Ogg, Opus and WebM\./),
      expect.stringMatching(new RegExp(`^note +${unknown}/ \\(5 files\\) +No category: `)),
    ]);
  });
});
