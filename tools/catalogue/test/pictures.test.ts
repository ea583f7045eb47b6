import { randomUUID } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { latin1, mp3With } from './files.ts';
import { type Files, imported, picture, readFiles } from './folder.ts';

/** Returns an MP3 with an embedded picture. */
const withPicture = (content: Buffer) =>
  mp3With([['APIC', Buffer.concat([latin1('image/jpeg\0\x03\0'), content])]]);

test('a picture gets a thumbnail of 256 pixels, also one of an earlier import', async ({ sql }) => {
  const { again, sounds } = await imported(sql, { '@/a.wav': tone(), '@/a.png': await picture('png') });
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

test('a picture is used if browsers show it and the bucket accepts it, or left out with a note', async () => {
  const raw = { width: 64, height: 64, channels: 3 } as const;
  const noise = sharp(crypto.getRandomValues(Buffer.alloc(64 * 64 * 3)), { raw });
  const [jpeg, png] = [await noise.jpeg().toBuffer(), await noise.png().toBuffer()];
  const pictures: [name: string, content: Buffer | string, typeOrProblem: string | RegExp][] = [
    ['half.jpg', jpeg.subarray(0, jpeg.length / 2), 'image/jpeg'],
    ['half.png', png.subarray(0, png.length / 2), 'image/png'],
    ['cut.mp3', jpeg.subarray(0, -3), 'image/jpeg'],
    ['png.mp3', png, 'image/png'], // its tag calls it a JPEG
    ['whole.webp', await picture('webp'), 'image/webp'],
    ['start.jpg', jpeg.subarray(0, 100), /It is damaged\./],
    ['start.mp3', jpeg.subarray(0, 80), /It is damaged\./],
    ['a.gif', 'GIF89a', /The bucket does not accept \.gif files/],
    ['large.jpg', Buffer.alloc(6 * 1024 * 1024), /It is 6\.0 MB; the bucket accepts at most 5\.0 MB/],
    ['text.jpg', 'This is a text.', /"text jpg\.jpg" is not an image\. Export it again\./],
    ['webp.jpg', await picture('webp'), /"webp jpg\.jpg" is actually a \.webp file\. Rename it, or export/],
    ['text.mp3', `This is a text: ${randomUUID()}`, /The one in the recording is not an image\./],
  ];
  const files: Files = {};
  for (const [file, content] of pictures) {
    const [name, extension] = [file.replace('.', ' '), file.split('.')[1]];
    if (extension === 'mp3') files[`${name}.mp3`] = withPicture(Buffer.from(content));
    else Object.assign(files, { [`${name}.wav`]: tone(), [`${name}.${extension}`]: content });
  }
  const { sounds, rejected } = await readFiles(files);
  expect([sounds.length, rejected]).toEqual([pictures.length, []]);
  const found = new Map(
    sounds.map(({ file, picture, notes }) => [file?.slice(0, -4), [picture?.type, notes]]),
  );
  for (const [name, , outcome] of pictures)
    expect(found.get(name.replace('.', ' ')), name).toEqual(
      typeof outcome === 'string'
        ? [outcome, []]
        : [undefined, [expect.stringMatching(new RegExp(`^No picture: ${outcome.source}`))]],
    );
});
