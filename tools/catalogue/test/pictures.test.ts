import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { latin1, mp3With } from './files.ts';
import { addFiles, importFolder, makeFolder, picture, soundsIn } from './folder.ts';

const text = 'This is a text, not a picture.\n'.repeat(200);

describe('pictures', () => {
  test('a picture gets a thumbnail of 256 pixels, also one of an earlier import', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/a.png`]: await picture('png'),
    });
    await importFolder(folder);
    const [sound] = await soundsIn(sql, category);
    const name = `${sound?.['cover_image_path']}.256.webp`;
    const { apiUrl, secretKey } = inject('stack');
    const covers = createClient(apiUrl, secretKey).storage.from('covers');
    const read = async () => (await fetch(covers.getPublicUrl(name).data.publicUrl)).arrayBuffer();
    const { format, width, height } = await sharp(await read()).metadata();
    expect({ format, width, height }).toEqual({ format: 'webp', width: 256, height: 256 });
    expect(await sql`select from admin.unused_files where name = ${name}`).toEqual([]);
    await covers.remove([name]);
    expect((await importFolder(folder)).stdout).toContain('0 new, 1 to update');
    expect((await sharp(await read()).metadata()).width).toBe(256);
    expect((await importFolder(folder)).stdout).toContain('1 unchanged');
  });

  test('a damaged picture is used if browsers show it, or left out with a note in the plan', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const noise = crypto.getRandomValues(Buffer.alloc(64 * 64 * 3));
    const encode = (format: 'jpeg' | 'png' | 'webp' | 'avif') =>
      sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
        .toFormat(format)
        .toBuffer();
    const [jpeg, png, webp, avif] = [
      await encode('jpeg'),
      await encode('png'),
      await encode('webp'),
      await encode('avif'),
    ];
    const shown: Record<string, Buffer> = {
      'a.jpg': jpeg.subarray(0, -2),
      'b.jpg': jpeg.subarray(0, jpeg.length / 2),
      'c.png': png.subarray(0, png.length / 2),
      'd.mp3': mp3With([['APIC', Buffer.concat([latin1('image/jpeg\0\x03\0'), jpeg.subarray(0, -3)])]]),
    };
    const broken: Record<string, Buffer> = {
      'e.jpg': jpeg.subarray(0, 100),
      'f.webp': webp.subarray(0, 200),
      'g.avif': avif.subarray(0, 300),
      'h.png': png.subarray(0, 40),
      'i.mp3': mp3With([['APIC', Buffer.concat([latin1('image/jpeg\0\x03\0'), jpeg.subarray(0, 80)])]]),
    };
    const folder = await makeFolder({});
    for (const [name, content] of Object.entries({ ...shown, ...broken })) {
      const recording = `${category}/${name.slice(0, 1)}.wav`;
      await addFiles(folder, {
        [`${category}/${name}`]: content,
        ...(!name.endsWith('mp3') && { [recording]: tone() }),
      });
    }
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('9 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected'),
    ]);
    const [plan = ''] = stdout.split('to upload');
    expect(
      [...plan.matchAll(/note +\S+\/(\w)\.\w+ +No picture: It is damaged\./g)].map(([, name]) => name),
    ).toEqual([...'efghi']);
    const sounds = await soundsIn(sql, category);
    const covered = sounds.filter(({ cover_version }) => cover_version !== null).map(({ title }) => title);
    expect(covered).toEqual([...'ABCD']);
    const thumbnails = await sql`
      select from storage.objects where bucket_id = 'covers' and name like ${`${category}/%.256.webp`}`;
    expect(thumbnails).toHaveLength(4);
  });

  test('a picture that the bucket does not accept is left out with a note', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/a.gif`]: 'GIF89a',
      [`${category}/b.wav`]: tone(),
      [`${category}/b.jpg`]: Buffer.alloc(6 * 1024 * 1024),
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/note +\S+a\.wav +No picture: The bucket does not accept \.gif files/);
    expect(stdout).toMatch(/note +\S+b\.wav +No picture: It is 6\.0 MB; the bucket accepts at most 5\.0 MB/);
    expect((await soundsIn(sql, category)).map(({ cover_image_path }) => cover_image_path)).toEqual([
      null,
      null,
    ]);
  });

  test('a picture of another type than its name is left out with a note', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/a.jpg`]: text,
      [`${category}/b.wav`]: tone(),
      [`${category}/b.jpg`]: await picture('webp'),
      [`${category}/c.wav`]: tone(),
      [`${category}/c.png`]: '',
      [`${category}/d.wav`]: tone(),
      [`${category}/good.wav`]: tone(),
      [`${category}/good.webp`]: await picture('webp'),
      'sounds.csv': `file,cover_image_path\n${category}/d.wav,gone.jpg\n`,
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/note +\S+a\.wav +No picture: "\S+a\.jpg" is not an image\. Export it again\./);
    expect(stdout).toMatch(
      /note +\S+b\.wav +No picture: "\S+b\.jpg" is actually a \.webp file\. Rename it, or export it again\./,
    );
    expect(stdout).toMatch(/note +\S+c\.wav +No picture: "\S+c\.png" is not an image\. Export it again\./);
    expect(stdout).toMatch(
      /note +\S+d\.wav +No picture: The folder has no image "gone\.jpg"\. Correct the name or add the file\./,
    );
    const covers = (await soundsIn(sql, category)).map(({ cover_image_path }) => cover_image_path);
    expect(covers).toEqual([null, null, null, null, expect.stringMatching(/\.webp$/)]);
  });

  test.for([
    ['a PNG called JPEG', () => picture('png'), /\.png$/, ''],
    [
      'a text',
      async () => Buffer.from(text + randomUUID()),
      null,
      'No picture: The one in the recording is not an image.',
    ],
  ] as const)(
    'an embedded picture that is actually %s is used or left out by its content',
    async ([, content, cover, note], { sql }) => {
      const category = await addCategory(sql);
      const folder = await makeFolder({
        [`${category}/a.mp3`]: mp3With([
          ['APIC', Buffer.concat([latin1('image/jpeg\0\x03\0'), await content()])],
        ]),
      });
      const { code, stdout } = await importFolder(folder);
      expect([code, stdout]).toEqual([0, expect.stringContaining(note)]);
      expect(await soundsIn(sql, category)).toMatchObject([
        { cover_image_path: cover && expect.stringMatching(cover) },
      ]);
    },
  );
});
