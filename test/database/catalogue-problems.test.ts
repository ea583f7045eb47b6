import { describe, expect, inject } from 'vitest';
import { addCategory, addSection, addSound, newSlug, type SoundRow } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { type Sql, test } from '../support/test.ts';

/** Adds a sound with stored files and no problems but those that the row causes; returns its id. */
async function addSoundWithFiles(sql: Sql, row: SoundRow = {}): Promise<string> {
  const name = newSlug('file');
  await storeFile('audio', `${name}.mp3`, 'audio/mpeg');
  await storeFile('covers', `${name}.jpg`, 'image/jpeg');
  return addSound(sql, {
    audio_path: `${name}.mp3`,
    cover_image_path: `${name}.jpg`,
    duration_sec: 60,
    ...row,
  });
}

describe('admin.catalogue_problems', () => {
  const problemsOf = async (sql: Sql, id: string) => {
    const rows = await sql`select problem, how_to_mend from admin.catalogue_problems where id = ${id}`;
    expect(rows.every((row) => /^[A-Z].{20,}\.$/.test(row['how_to_mend']))).toBe(true);
    return rows.map((row) => row['problem']);
  };

  test('reports each problem of an active sound until it is fixed, and no others', async ({ sql }) => {
    const name = newSlug('mended');
    const change = (id: string, fields: object) =>
      sql`update public.sounds set ${sql(fields)} where id = ${id}`;
    await storeFile('audio', `${name}.txt`, 'audio/mpeg');
    await storeFile('audio', `${name}.mp3`, 'audio/mpeg');
    await storeFile('covers', `${name}.bmp`, 'image/png');
    for (const [problem, wrong, mend] of [
      [
        'sound_without_audio',
        { audio_path: null },
        (id: string) => change(id, { audio_path: `${name}.mp3` }),
      ],
      ['sound_without_audio', { audio_path: null }, (id: string) => change(id, { is_active: false })],
      [
        'audio_file_missing',
        { audio_path: `${name}.wav` },
        () => storeFile('audio', `${name}.wav`, 'audio/wav'),
      ],
      [
        'cover_file_missing',
        { cover_image_path: `${name}.png` },
        () => storeFile('covers', `${name}.png`, 'image/png'),
      ],
      [
        'audio_file_has_wrong_type',
        { audio_path: `${name}.txt` },
        (id: string) => change(id, { audio_path: `${name}.mp3` }),
      ],
      [
        'cover_file_has_wrong_type',
        { cover_image_path: `${name}.bmp` },
        (id: string) => change(id, { cover_image_path: `${name}.png` }),
      ],
      ['sound_without_duration', { duration_sec: null }, (id: string) => change(id, { duration_sec: 12.5 })],
    ] as const) {
      const id = await addSoundWithFiles(sql, wrong);
      expect(await problemsOf(sql, id)).toEqual([problem]);
      await mend(id);
      expect(await problemsOf(sql, id), `${problem} after mending`).toEqual([]);
    }
  });

  test('reports a stored file whose content type does not match its extension', async ({ sql }) => {
    const id = await addSoundWithFiles(sql);
    const setType = (type: string) => sql`
      update storage.objects set metadata = metadata || jsonb_build_object('mimetype', ${type}::text)
      where bucket_id = 'audio' and name = (select audio_path from public.sounds where id = ${id})`;
    await setType('text/html');
    expect(await problemsOf(sql, id)).toEqual(['audio_file_has_wrong_type']);
    await setType('audio/mpeg');
    expect(await problemsOf(sql, id)).toEqual([]);
  });

  test('reports files whose names cannot be entered, but no placeholders', async ({ sql }) => {
    const folder = newSlug('folder');
    await storeFile('audio', `${folder}/My Song.mp3`, 'audio/mpeg');
    await storeFile('audio', `${folder}/song`, 'audio/mpeg');
    // Storage takes it only when it is empty.
    await storeFile('audio', `${folder}/.emptyFolderPlaceholder`, 'audio/mpeg', '');
    const problems = () => sql`
      select concerns from admin.catalogue_problems
      where problem = 'file_name_cannot_be_entered' and concerns like ${`%${folder}%`}`;
    expect(await problems()).toEqual([
      { concerns: `file "${folder}/My Song.mp3" in the bucket audio` },
      { concerns: `file "${folder}/song" in the bucket audio` },
    ]);
    for (const name of ['My Song.mp3', 'song']) {
      const { apiUrl, secretKey } = inject('stack');
      await fetch(`${apiUrl}/storage/v1/object/move`, {
        method: 'POST',
        headers: {
          apikey: secretKey,
          Authorization: `Bearer ${secretKey}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({
          bucketId: 'audio',
          sourceKey: `${folder}/${name}`,
          destinationKey: `${folder}/${name.replace(/\W/g, '-')}-renamed.mp3`,
        }),
      });
    }
    expect(await problems()).toEqual([]);
  });

  test('reports stored files that no sound names, until one does or they are gone', async ({ sql }) => {
    const name = newSlug('unused');
    await storeFile('audio', `${name}/a.mp3`, 'audio/mpeg');
    await storeFile('covers', `${name}/a.jpg`, 'image/jpeg');
    await storeFile('audio', `${name}/.emptyFolderPlaceholder`, 'audio/mpeg', '');
    const unused = async () => {
      const listed = await sql`
        select bucket, name, megabytes::float as megabytes from admin.unused_files where name like ${`${name}%`}`;
      const problems = await sql`
        select concerns from admin.catalogue_problems
        where problem = 'file_is_unused' and concerns like ${`%${name}%`}`;
      expect(new Set(problems.map(({ concerns }) => concerns))).toEqual(
        new Set(listed.map(({ bucket, name }) => `file "${name}" in the bucket ${bucket}`)),
      );
      return [...listed];
    };
    expect(await unused()).toEqual([
      { bucket: 'audio', name: `${name}/a.mp3`, megabytes: 0 },
      { bucket: 'covers', name: `${name}/a.jpg`, megabytes: 0 },
    ]);
    await addSound(sql, {
      is_active: false,
      audio_path: `${name}/a.mp3`,
      cover_image_path: `${name}/a.jpg`,
    });
    expect(await unused()).toEqual([]);
  });

  test('reports categories that cannot be reached or have no sounds', async ({ sql }) => {
    const parent = await addCategory(sql, { is_active: false });
    const child = await addCategory(sql, { parent });
    const [row] = await sql`select id from public.categories where slug = ${child}`;
    const id: string = row?.['id'];
    expect(await problemsOf(sql, id)).toEqual([
      'active_category_under_inactive_parent',
      'category_without_sounds',
    ]);
    await addSound(sql, { category: child });
    expect(await problemsOf(sql, id)).toEqual(['active_category_under_inactive_parent']);
    await sql`update public.categories set is_active = true where slug = ${parent}`;
    expect(await problemsOf(sql, id)).toEqual([]);
    const [top] = await sql`select id from public.categories where slug = ${parent}`;
    expect(await problemsOf(sql, top?.['id']), 'sounds of sub-intentions count').toEqual([]);
  });

  test('reports home sections that are empty or ignore their picks', async ({ sql }) => {
    const category = await addCategory(sql);
    const hidden = await addSound(sql, { is_active: false });
    const pick = (section: string, sound: string) =>
      sql`insert into public.home_section_sounds values (${section}, ${sound}, 1)`;
    const idOf = async (slug: string): Promise<string> => {
      const [row] = await sql`select id from public.home_sections where slug = ${slug}`;
      return row?.['id'];
    };
    const manual = await idOf(await addSection(sql, { mode: 'manual' }));
    await pick(manual, hidden);
    const rule = await idOf(
      await addSection(sql, { mode: 'rule', rule_type: 'category', rule_value: category }),
    );
    await pick(rule, hidden);
    expect(await problemsOf(sql, manual)).toEqual(['section_without_picks']);
    expect(await problemsOf(sql, rule)).toEqual(['picks_are_ignored', 'rule_finds_nothing']);
    await sql`update public.sounds set is_active = true, category = ${category} where id = ${hidden}`;
    expect(await problemsOf(sql, manual)).toEqual([]);
    expect(await problemsOf(sql, rule)).toEqual(['picks_are_ignored']);
    await sql`delete from public.home_section_sounds where section_id = ${rule}`;
    expect(await problemsOf(sql, rule)).toEqual([]);
  });
});
