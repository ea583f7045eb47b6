import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { imported, importFolder, makeFolder, readFiles, readFolder, startImport } from './folder.ts';

// Drops the capabilities with which root reads files of other users.
const isRoot = process.getuid?.() === 0;
const unprivileged = isRoot
  ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all']
  : undefined;

const recording = tone();

test('control characters and the secret key are not printed', async ({ sql }) => {
  const names = ['a\x1b[31m.wav', 'b\nb.wav', 'c\u0001c.wav', 'd\u202ed.wav', 'e\u2028e.wav', 'f\x7ff.wav'];
  const files = Object.fromEntries(names.map((name) => [`@/${name}`, tone()]));
  const others = { 'new\x07folder/y.wav': tone(), '@/x\x1b[2J.pdf': '' };
  const { stdout, sounds } = await imported(sql, { ...files, ...others });
  expect(stdout).not.toMatch(/[^\P{Cc}\n]|[\u2028\u202e]/u);
  expect(stdout).not.toContain(inject('stack').secretKey);
  expect(stdout).toMatch(/new +\S+\/b\\u\{a\}b\.wav +B b \(/);
  expect((await sounds()).map(({ title }) => title)).toEqual(['A [31m', 'B b', 'C c', 'D d', 'E e', 'F f']);
});

test('every unused file is reported, with its kind', async () => {
  const reasons: Record<string, RegExp> = {
    'below/sounds.csv': /^Not read: only sounds\.csv at the top of the folder is used\./,
    'other.csv': /^Not read: only sounds\.csv is used\. Rename it/,
    'sounds.xlsx': /^Not read\. Save it as "CSV UTF-8"/,
    'list.m3u': /^Not imported: this is not a supported format/,
    README: /^Not imported: this is not a supported format/,
    '.mov (2 files)': /^Not imported: videos are not supported\./,
    'extra.jpg': /^Not used: no recording in its folder has the same name\./,
  };
  const names = [...Object.keys(reasons), 'x.mov', 'y.mov', '.hidden.wav'];
  const files = Object.fromEntries(names.map((name) => [name, '']));
  const { sounds, rejected, notes } = await readFiles({ ...files, 'a.wav': tone() });
  expect([sounds.length, rejected]).toEqual([1, []]);
  for (const { where, reason } of notes) expect(reason, where).toMatch(reasons[where] ?? /^$/);
  expect(notes).toHaveLength(Object.keys(reasons).length);
});

test('recycle bins, snapshots and other folders of systems are skipped with one note', async () => {
  const skipped = `#recycle|@Recycle|@eaDir|@Recently-Snapshot|~snapshot|$RECYCLE.BIN|__MACOSX|RECYCLER|FOUND.000|
    System Volume Information|lost+found|Network Trash Folder|below/@eaDir`.split(/\|\s*/);
  const names = '@home|#1 songs|below|Network|Recycled rain|Snapshots|tmp'.split('|');
  const read = names.map((name) => `${name}/a.wav`);
  const files = [...skipped.map((name) => `${name}/a.wav`), ...read].map((file) => [file, recording]);
  const hidden = ['.DS_Store', 'Thumbs.db', 'below/desktop.ini'].map((file) => [file, 'x']);
  const { sounds, rejected, notes } = await readFiles(Object.fromEntries([...files, ...hidden]));
  expect([sounds.map(({ file }) => file), rejected]).toEqual([read, []]);
  expect(notes).toEqual([
    { where: expect.stringMatching(/^\S+\/ \(13 folders\)$/), reason: expect.stringMatching(/^Skipped: recycle bins/) },
  ]);
});

test('a linked folder is read once, unless it contains the folder or lies in it', async ({ skip }) => {
  skip(process.platform === 'win32', 'Windows requires a permission for links.');
  const elsewhere = await makeFolder({ 'rain.wav': recording, 'inner/deep.wav': recording });
  const folder = await makeFolder({ 'a.wav': recording, 'below/b.wav': recording });
  const links = { inside: 'below', outside: elsewhere, 'round.wav': '.', twice: join(elsewhere, 'inner'), up: '/' };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name));
  await symlink(folder, join(elsewhere, 'back'));
  await symlink('/nowhere/at/all', join(folder, 'unmounted'));
  const { sounds, rejected, notes } = await readFolder(folder);
  const read = ['a.wav', 'below/b.wav', 'outside/inner/deep.wav', 'outside/rain.wav'];
  expect(sounds.map(({ file }) => file)).toEqual(read);
  const missing = expect.stringMatching(/^The file does not exist\. Restore/);
  expect(rejected).toEqual([{ where: 'unmounted', reason: missing }]);
  expect(notes.map(({ where }) => where)).toEqual(['inside/', 'outside/back/', 'round.wav/', 'twice/', 'up/']);
  for (const { reason } of notes)
    expect(reason).toMatch(/^Not read: it is a link to \/.*, which overlaps with a folder/);
});

test('a file name that is not UTF-8, or that two files share, is rejected with a remedy', async ({ skip }) => {
  skip(process.platform !== 'linux', 'Only Linux has such names.');
  const names = ['é.wav', 'が/a.wav'].flatMap((name) => [name.normalize('NFC'), name.normalize('NFD')]);
  const folder = await makeFolder(Object.fromEntries(names.map((name) => [name, recording])));
  const path = (name: string) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
  await writeFile(path('B\xe4r.wav'), recording);
  await mkdir(path('gr\xfcn'));
  const { sounds, rejected } = await readFolder(folder);
  await rm(path('gr\xfcn'), { recursive: true });
  expect(sounds.map(({ file }) => file)).toEqual([names[0], names[2]]);
  const notText = { reason: 'Its name is not in UTF-8. Rename it.' };
  const second = { reason: expect.stringMatching(/^Another file has this name, with its accents .* Rename one\.$/) };
  const wheres = ['Bär.wav', names[0], 'grün', names[2]];
  expect(rejected).toEqual(wheres.map((where, index) => ({ where, ...(index % 2 === 0 ? notText : second) })));
});

test('unreadable files are rejected, and the others are imported, also through links', {
  tags: isRoot ? ['setpriv'] : [],
}, async () => {
  const folder = await makeFolder({ 'a.wav': tone(), 'b.wav': tone(), 'locked/c.wav': tone() });
  const path = (name: string) => join(folder, name);
  await symlink('nowhere.wav', path('dangling.wav'));
  await symlink('.', path('round'));
  await symlink(join(await makeFolder({ 'b.wav': tone() }), 'b.wav'), path('linked.wav'));
  // Let users other than root remove the folder.
  onTestFinished(() => chmod(path('locked'), 0o755));
  await chmod(folder, 0o755);
  await chmod(path('b.wav'), 0);
  await chmod(path('locked'), 0);
  const command = startImport([folder, '--yes'], undefined, unprivileged);
  expect(await command.exited).toBe(1);
  for (const line of [
    /\nmade +a\.wav +A \(no category\)\nmade +linked\.wav +Linked \(/,
    /rejected +locked\/ +You do not have permission to read it\./,
    /rejected +b\.wav +You do not have permission to read it\./,
    /rejected +dangling\.wav +The file does not exist\./,
    /2 made, 0 updated, 0 unchanged, 0 left alone, 3 rejected\./,
  ])
    expect(command.output.stdout).toMatch(line);
});

test('an import of an empty or missing folder fails with a message that says what to correct', async () => {
  const { code, stdout } = await importFolder(await makeFolder({ 'notes.txt': 'x', 'cover.jpg': 'x' }));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^No recordings were found in \S+: .+\.\nnote +notes\.txt +Not imported.+\nnote +cover\.jpg +Not used.+\n$/,
  );
  const { stderr } = await importFolder('/nowhere/at/all');
  expect(stderr).toBe('There is no folder /nowhere/at/all. Correct its path.\n');
});
