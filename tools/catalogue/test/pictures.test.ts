import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { importFolder, makeFolder, mp3Frame, picture, soundsIn } from './folder.ts';

const text = 'This is a text, not a picture.\n'.repeat(200);

/** An MP3 whose tags say that a picture has a type. */
function mp3WithPicture(type: string, content: Buffer): Buffer {
  // No description, and the picture is the cover (3), in Latin-1 (0).
  const body = Buffer.concat([Buffer.from(`\0${type}\0\x03\0`, 'latin1'), content]);
  const apic = Buffer.concat([Buffer.from('APIC'), Buffer.alloc(6), body]);
  apic.writeUInt32BE(body.length, 4);
  const id3 = Buffer.concat([Buffer.from('ID3\x03\0\0'), Buffer.alloc(4), apic]);
  // Seven bits of each byte.
  [21, 14, 7, 0].forEach((shift, index) => {
    id3[6 + index] = (apic.length >> shift) & 0x7f;
  });
  return Buffer.concat([id3, ...Array(40).fill(mp3Frame)]);
}

describe('pictures', () => {
  test('get a form of 256 pixels beside them, also those of an earlier import, which is no unused file', async ({
    sql,
  }) => {
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

  test('that cannot be read are named with what to do', async ({ sql }) => {
    const category = await addCategory(sql);
    const broken = (await picture('png')).subarray(0, 60);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(), [`${category}/a.png`]: broken });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/a\.wav +Its picture cannot be made smaller: .+ Save it anew as a JPEG\./);
  });

  test('that the bucket does not take: the sound goes without, and that is said', async ({ sql }) => {
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

  test('that are not what they are called: the sound goes without, and that is said', async ({ sql }) => {
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
  ] as const)('inside a recording: one that is actually %s', async ([, content, cover, note], { sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.mp3`]: mp3WithPicture('image/jpeg', await content()),
    });
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining(note)]);
    expect(await soundsIn(sql, category)).toMatchObject([
      { cover_image_path: cover && expect.stringMatching(cover) },
    ]);
  });
});
