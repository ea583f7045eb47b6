import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { latin1, mp3With } from './files.ts';
import { imported, picture } from './folder.ts';

const text = 'This is a text, not a picture.\n'.repeat(200);

/** Returns an MP3 with an embedded picture. */
const withPicture = (content: Buffer) =>
  mp3With([['APIC', Buffer.concat([latin1('image/jpeg\0\x03\0'), content])]]);

describe('pictures', () => {
  test('a picture gets a thumbnail of 256 pixels, also one of an earlier import', async ({ sql }) => {
    const files = { '@/a.wav': tone(), '@/a.png': await picture('png') };
    const { again, sounds } = await imported(sql, files);
    const [sound] = await sounds();
    const name = `${sound?.['cover_image_path']}.256.webp`;
    const { apiUrl, secretKey } = inject('stack');
    const covers = createClient(apiUrl, secretKey).storage.from('covers');
    const read = async () => (await fetch(covers.getPublicUrl(name).data.publicUrl)).arrayBuffer();
    const { format, width, height } = await sharp(await read()).metadata();
    expect({ format, width, height }).toEqual({ format: 'webp', width: 256, height: 256 });
    expect(await sql`select from admin.unused_files where name = ${name}`).toEqual([]);
    await covers.remove([name]);
    expect((await again()).stdout).toContain('0 new, 1 to update');
    expect((await sharp(await read()).metadata()).width).toBe(256);
    expect((await again()).stdout).toContain('1 unchanged');
  });

  test('a damaged picture is used if browsers show it, or left out with a note', async ({ sql }) => {
    const noise = crypto.getRandomValues(Buffer.alloc(64 * 64 * 3));
    const encode = (format: 'jpeg' | 'png' | 'webp' | 'avif') =>
      sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
        .toFormat(format)
        .toBuffer();
    const [jpeg, png] = [await encode('jpeg'), await encode('png')];
    const pictures = {
      'a.jpg': jpeg.subarray(0, -2),
      'b.jpg': jpeg.subarray(0, jpeg.length / 2),
      'c.png': png.subarray(0, png.length / 2),
      'd.mp3': withPicture(jpeg.subarray(0, -3)),
      'e.jpg': jpeg.subarray(0, 100),
      'f.webp': (await encode('webp')).subarray(0, 200),
      'g.avif': (await encode('avif')).subarray(0, 300),
      'h.png': png.subarray(0, 40),
      'i.mp3': withPicture(jpeg.subarray(0, 80)),
    };
    const files: Record<string, Buffer> = {};
    for (const [name, content] of Object.entries(pictures)) {
      if (!name.endsWith('mp3')) files[`@/${name.charAt(0)}.wav`] = tone();
      files[`@/${name}`] = content;
    }
    const { code, stdout, category, sounds } = await imported(sql, files);
    expect([code, stdout]).toEqual([0, expect.stringContaining('9 made, 0 updated, 0 unchanged')]);
    const [plan = ''] = stdout.split('to upload');
    const damaged = [...plan.matchAll(/note +\S+\/(\w)\.\w+ +No picture: It is damaged\./g)];
    expect(damaged.map(([, name]) => name)).toEqual([...'efghi']);
    const covered = (await sounds()).filter(({ cover_version }) => cover_version !== null);
    expect(covered.map(({ title }) => title)).toEqual([...'ABCD']);
    const thumbnails = await sql`
      select from storage.objects where bucket_id = 'covers' and name like ${`${category}/%.256.webp`}`;
    expect(thumbnails).toHaveLength(4);
  });

  test('a picture is used or left out by its content, size and type, with a note', async ({ sql }) => {
    const { code, stdout, sounds } = await imported(sql, {
      '@/a.wav': tone(),
      '@/a.gif': 'GIF89a',
      '@/b.wav': tone(),
      '@/b.jpg': Buffer.alloc(6 * 1024 * 1024),
      '@/c.wav': tone(),
      '@/c.jpg': text,
      '@/d.wav': tone(),
      '@/d.jpg': await picture('webp'),
      '@/e.wav': tone(),
      '@/e.png': '',
      '@/f.wav': tone(),
      '@/g.mp3': withPicture(Buffer.from(text + randomUUID())),
      '@/h.mp3': withPicture(await picture('png')), // its tag calls it a JPEG
      '@/i.wav': tone(),
      '@/i.webp': await picture('webp'),
      'sounds.csv': 'file,cover_image_path\n@/f.wav,gone.jpg\n',
    });
    expect(code).toBe(0);
    for (const note of [
      /a\.wav +No picture: The bucket does not accept \.gif files/,
      /b\.wav +No picture: It is 6\.0 MB; the bucket accepts at most 5\.0 MB/,
      /c\.wav +No picture: "\S+c\.jpg" is not an image\. Export it again\./,
      /d\.wav +No picture: "\S+d\.jpg" is actually a \.webp file\. Rename it, or export it again\./,
      /e\.wav +No picture: "\S+e\.png" is not an image\. Export it again\./,
      /f\.wav +No picture: The folder has no image "gone\.jpg"\. Correct the name or add the file\./,
      /g\.mp3 +No picture: The one in the recording is not an image\./,
    ])
      expect(stdout).toMatch(new RegExp(`note +\\S+${note.source}`));
    const covers = (await sounds()).map(({ cover_image_path }) => cover_image_path);
    const used = [expect.stringMatching(/\.png$/), expect.stringMatching(/\.webp$/)];
    expect(covers).toEqual([...Array(7).fill(null), ...used]);
  });
});
