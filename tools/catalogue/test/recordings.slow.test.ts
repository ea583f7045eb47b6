import { randomBytes } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { readTags } from '../read/tags.ts';
import { encode, latin1, mp3Ending, mp3With, picture, utf8, utf16 } from './files.ts';
import { type Files, imported, makeFolder, readFiles, readFolder } from './folder.ts';

test('a title in any encoding is decoded and cleaned, and a garbled title causes a note', async () => {
  const texts: [tag: Buffer, title?: string][] = [
    [utf8('Rain\0Thunder'), 'Rain'],
    [utf16('Rain\0Thunder'), 'Rain'],
    [utf8('\0Thunder\0'), 'Thunder'],
    [latin1('Don\x92t worry \x96 be calm \x80'), 'Don’t worry – be calm €'],
    [utf8('Ra\x1b[31min\x01\n\u202e2'), 'Ra [31min 2'],
    ...['Été à Évian', 'Æ', 'Øre på øre', 'Größe'].map((text): [Buffer, string] => [latin1(text), text]),
    [latin1('Kl\xc3\xa4nge f\xc3\xbcr dich')], // UTF-8
    [latin1('\xcf\xf0\xe8\xe2\xe5\xf2')], // Windows-1251
    [latin1('\x82\xb3\x82\xad\x82\xe7')], // Shift-JIS
    [utf8('Schlaf f\ufffdr alle')],
  ];
  const recordings = texts.map(([text]) => mp3With([['TIT2', text]]));
  recordings.push(mp3With(['Rain', 'Thunder'].map((title) => ['TIT2', utf8(title)])));
  const metadata = await Promise.all(recordings.map((recording) => parseBuffer(recording, 'audio/mpeg')));
  const garbled = [expect.stringMatching(/^The tags say .*looks garbled\./)];
  expect(metadata.map(readTags).map(({ title, notes }) => (notes.length > 0 ? notes : title))).toEqual([
    ...texts.map(([, title = garbled]) => title),
    'Rain',
  ]);
});

test('the tags and the picture at the end of an MP3 are read', async () => {
  const cover = Buffer.concat([latin1('image/png\0\x03\0'), await picture('png')]);
  const { sounds } = await readFiles({
    'a.mp3': mp3Ending([
      ['TIT2', utf8('Rain')],
      ['APIC', cover],
    ]),
  });
  expect(sounds).toMatchObject([{ fields: { title: 'Rain' }, picture: { type: 'image/png' } }]);
});

/** Format, MIME type, extensions, and the tags that an import reads from files of this format. */
const importedFormats = [
  ['mp3', 'audio/mpeg', 'mp3 mpga mp2 m2a', 'title comment picture'],
  ['m4a', 'audio/mp4', 'm4a m4b m4r mp4a mp4', 'title comment picture'],
  ['flac', 'audio/x-flac', 'flac', 'title comment picture'],
  ['ogg', 'audio/ogg', 'ogg oga', 'title comment'],
  ['opus', 'audio/ogg', 'opus', 'title comment'],
  ['wav', 'audio/wav', 'wav wave', 'title comment'],
  ['webm', 'audio/webm', 'webm weba', 'title'],
  ['aac', 'audio/aac', 'aac adts', ''],
] as const;

test('recordings of every extension are imported with title, comment and picture', { tags: ['ffmpeg'] }, async ({
  sql,
}) => {
  const kinds = importedFormats.flatMap(([format, type, extensions, tags]) =>
    extensions.split(' ').map((extension) => ({ format, type, extension, tags })),
  );
  const attached = '-map 0 -map 1 -c:v mjpeg -disposition:v:0 attached_pic';
  const outputs = kinds.map(({ format, extension, tags }, index): [string, string] => {
    const length = 0.5 + index / 100; // otherwise the two files without tags would be equal
    const texts = `-metadata title=Deep-${extension} -metadata comment=Struck -t ${length}`;
    return [`${extension}.${format}`, tags.includes('picture') ? `${attached} ${texts}` : texts];
  });
  const made = encode(await makeFolder(), Object.fromEntries(outputs), 'color=red:size=64x64:rate=1:d=1');
  const files: Files = {};
  for (const [name] of outputs) files[`@/${name.replace(/(.*)\..*/, '$1.$1')}`] = made(name);
  for (const name of ['aac.jpg', 'adts.jpeg', 'webm.jpe', 'weba.jfif']) files[`@/${name}`] = await picture();
  for (const name of ['ogg.png', 'oga.apng']) files[`@/${name}`] = await picture('png');
  files['@/wav.webp'] = await picture('webp');
  const { stdout, sounds: find } = await imported(sql, files);
  expect(stdout).not.toContain('No picture');
  expect(stdout).toMatch(/note +5 files +iPhones do not play Ogg, Opus and WebM\./);
  const sounds = await find();
  const texts = sounds.map(({ title, description, audio_type }) => [title, description, audio_type]);
  const expected = kinds.map(({ extension, type, tags }) => [
    tags.includes('title') ? `Deep-${extension}` : extension.replace('a', 'A'),
    tags.includes('comment') ? 'Struck' : null,
    type,
  ]);
  expect(texts.sort()).toEqual(expected.sort());
  // The cover that ten files share is stored once; seven other files have separate covers.
  const covers = sounds.filter(({ cover_version }) => cover_version !== null);
  expect([covers.length, new Set(covers.map((sound) => sound['cover_image_path'])).size]).toEqual([17, 8]);
  const problems = await sql`
    select problem, concerns from admin.catalogue_problems where id in ${sql(sounds.map(({ id }) => id))}`;
  expect(problems).toEqual([]);
});

type Bad = [name: string, content: Buffer | string, reason: RegExp];

test('files that are not recordings are rejected in order, each with a remedy', { tags: ['ffmpeg'] }, async () => {
  const outputs = {
    'video.mp4': '-map 0 -map 1 -t 1',
    ...Object.fromEntries(
      ['a.m4a', 'a.mp3', 'a.flac', 'a.au', 'a.caf', 'a.dts', 'a.mkv'].map((name) => [name, '-t 1 -strict -2']),
    ),
  };
  const made = encode(await makeFolder(), outputs, 'color=size=32x32:d=1');
  const wav = tone();
  const hertz = tone(); // at 1 Hz, with which ffmpeg 5 crashes
  hertz.writeUInt32LE(1, 24);
  const channels = tone();
  channels.writeUInt16LE(10, 22);
  channels.writeUInt16LE(20, 32);
  const text = 'This is a text, not a recording.\n'.repeat(200);
  const unreadable = /^It cannot be read as audio\. Check that it plays, and export it again\.$/;
  const days = made('a.flac'); // 48 hours by its header
  days.writeUInt8(days.readUInt8(21) | 1, 21);
  days.writeUInt32BE(48 * 3600 * 44_100 - 2 ** 32, 22);
  const list = `ffconcat version 1.0\nfile ${resolve('supabase/samples/audio/noise/brown-noise.mp3')}\n`;
  const bad: Bad[] = [
    // An empty file is rejected at once, a long one after it has been read.
    ['2.mp3', Buffer.alloc(2_000_000), unreadable],
    ['10.wav', '', /The file is empty\. Export/],
    ['a wav.mp3', wav, /It is actually a \.wav: rename it/],
    ['au.wav', made('a.au'), /It is actually a \.au: export it as \.m4a or \.mp3/],
    ['caf.mp3', made('a.caf'), /It is actually a \.caf: export it as/],
    ['channels.wav', channels, /It has too many channels\. Export it in stereo/],
    ['days.flac', days, /^It is longer than a day\. Export it in parts\.$/],
    ['drm.m4a', Buffer.from(made('a.m4a').toString('latin1').replace('mp4a', 'drms'), 'latin1'), /^It is protected/],
    ['dts.mp3', made('a.dts'), /It is actually a \.dts: export it as/],
    ['film.mp4', made('video.mp4'), /It is a video\. Export only/],
    ['full.mp3', Buffer.alloc(300_000, 0xff), unreadable],
    ['header.wav', Buffer.concat([wav.subarray(0, 20), Buffer.alloc(24), wav.subarray(44)]), unreadable],
    ['hertz.wav', hertz, unreadable],
    ['huge.wav', '', /It is 600\.0 MB; the bucket accepts at most 50\.0 MB/],
    ['list.mp3', list, /It is a playlist, not a recording/],
    ['long tag.mp3', 'ID3\x04\0\0\x7f\x7f\x7f\x7f', unreadable],
    ['matroska.webm', made('a.mkv'), /It is actually a \.mkv: export it as/],
    ...['m4a', 'ogg', 'wav'].map(
      (extension): Bad => [`mp3.${extension}`, made('a.mp3'), /is actually a \.mp3: rename/],
    ),
    ['random.aac', randomBytes(1_000_000), unreadable],
    ['random.mp3', randomBytes(5_000_000), unreadable],
    ['song.wma', text, /The bucket does not accept \.wma files/],
    ...['flac', 'm4a', 'mp3', 'ogg', 'wav', 'webm'].map((extension): Bad => [`text.${extension}`, text, unreadable]),
  ];
  const folder = await makeFolder(Object.fromEntries(bad.map(([name, content]) => [name, content])));
  await truncate(join(folder, 'huge.wav'), 600 * 1024 * 1024);
  const { sounds, rejected } = await readFolder(folder);
  expect(sounds).toEqual([]);
  const reasons = bad.map(([where, , reason]) => ({ where, reason: expect.stringMatching(reason) }));
  expect(rejected).toEqual(reasons);
});

test('a picture that browsers cannot show or the bucket rejects is left out with a note', async () => {
  const raw = { width: 64, height: 64, channels: 3 } as const;
  const noise = sharp(crypto.getRandomValues(Buffer.alloc(64 * 64 * 3)), { raw });
  const [jpeg, png] = [await noise.jpeg().toBuffer(), await noise.png().toBuffer()];
  const pictures: [name: string, content: Buffer | string, typeOrProblem: string | RegExp][] = [
    ['half.jpg', jpeg.subarray(0, jpeg.length / 2), 'image/jpeg'],
    ['half.png', png.subarray(0, png.length / 2), 'image/png'],
    ['cut.mp3', jpeg.subarray(0, -3), 'image/jpeg'],
    ['png.mp3', png, 'image/png'], // its tag says that it is a JPEG
    ['whole.webp', await picture('webp'), 'image/webp'],
    ['start.jpg', jpeg.subarray(0, 100), /It is damaged\./],
    ['start.mp3', jpeg.subarray(0, 80), /It is damaged\./],
    ['a.gif', 'GIF89a', /The bucket does not accept \.gif files/],
    ['large.jpg', Buffer.alloc(6 * 1024 * 1024), /It is 6\.0 MB; the bucket accepts at most 5\.0 MB/],
    ['text.jpg', 'This is a text.', /"text jpg\.jpg" is not an image\. Export it again\./],
    ['webp.jpg', await picture('webp'), /"webp jpg\.jpg" is actually a \.webp file\. Rename it, or export/],
    ['text.mp3', `This is a text: ${crypto.randomUUID()}`, /The picture in the recording is not an image\./],
  ];
  const [files, wav]: [Files, Buffer] = [{}, tone()];
  for (const [file, content] of pictures) {
    const [name, extension] = [file.replace('.', ' '), file.split('.')[1]];
    const tag = Buffer.concat([latin1('image/jpeg\0\x03\0'), Buffer.from(content)]);
    if (extension === 'mp3') files[`${name}.mp3`] = mp3With([['APIC', tag]]);
    else Object.assign(files, { [`${name}.wav`]: wav, [`${name}.${extension}`]: content });
  }
  const { sounds, rejected } = await readFiles(files);
  expect([sounds.length, rejected]).toEqual([pictures.length, []]);
  const found = new Map(sounds.map((sound) => [sound.file?.slice(0, -4), sound]));
  for (const [name, , outcome] of pictures) {
    const { picture, notes } = found.get(name.replace('.', ' ')) ?? {};
    const isUsed = typeof outcome === 'string';
    const note = isUsed ? '' : expect.stringMatching(new RegExp(`^No picture: ${outcome.source}`));
    expect([picture?.type, notes], name).toEqual(isUsed ? [outcome, []] : [undefined, [note]]);
  }
});
