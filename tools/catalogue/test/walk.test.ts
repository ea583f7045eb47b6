import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import {
  imported,
  importFolder,
  makeFolder,
  readFiles,
  readFolder,
  rejectedLines,
  soundsIn,
  startImport,
} from './folder.ts';

// Capabilities by which root reads files of others.
const unprivileged =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all']
    : undefined;

test('control characters are escaped in all output and become spaces in titles', async ({ sql }) => {
  const names = ['a\x1b[31m.wav', 'b\nb.wav', 'c\u0001c.wav', 'd\u202ed.wav', 'e\u2028e.wav', 'f\x7ff.wav'];
  const { stdout, stderr, titles } = await imported(sql, {
    ...Object.fromEntries(names.map((name) => [`@/${name}`, tone()])),
    '@/x\x1b[2J.pdf': '',
    'new\x07folder/y.wav': tone(),
  });
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|[\u2028\u202e]/u);
  expect(stdout).toMatch(/new +\S+\/b\\u\{a\}b\.wav +B b \(/);
  expect(await titles()).toEqual(['A [31m', 'B b', 'C c', 'D d', 'E e', 'F f']);
});

test('every file that is not used is named by its kind', async () => {
  const videos = ['memo.3gp', 'x.mov', 'y.mov'];
  const sheets = ['below/sounds.csv', 'other.csv', 'sounds.ods', 'sounds.xlsx'];
  const unused = [...videos, ...sheets, 'list.m3u', 'a.pdf', 'README', 'extra.jpg', '.hidden.wav'];
  const files = Object.fromEntries(unused.map((name) => [name, '']));
  const { sounds, rejected, notes } = await readFiles({ ...files, 'a.wav': tone() });
  expect([sounds.length, rejected]).toEqual([1, []]);
  const reasons = {
    'memo.3gp': /^Not imported: videos are not\./,
    '.mov (2 files)': /^Not imported: videos are not\./,
    'list.m3u': /^Not imported: this is no format/,
    'a.pdf': /^Not imported: this is no format/,
    README: /^Not imported: this is no format/,
    'extra.jpg': /^Not used: no recording beside it has its name/,
    'below/sounds.csv': /^Not read: only sounds\.csv at the top of the folder is\./,
    'other.csv': /^Not read: only sounds\.csv is\. Rename it/,
    'sounds.ods': /^Not read\. Save it as "CSV UTF-8"/,
    'sounds.xlsx': /^Not read\. Save it as "CSV UTF-8"/,
  };
  const found = Object.fromEntries(notes.map(({ where, reason }) => [where, reason]));
  const expected = Object.entries(reasons).map(([where, reason]) => [where, expect.stringMatching(reason)]);
  expect(found).toEqual(Object.fromEntries(expected));
});

test('two names that differ in their form of Unicode alone are one sound and one rejection', async () => {
  const names = ['é.wav', 'が/a.wav', 'Ω̄ễ.wav'];
  const twins = names.flatMap((name) => [name.normalize('NFC'), name.normalize('NFD')]);
  const { sounds, rejected } = await readFiles(Object.fromEntries(twins.map((name) => [name, tone()])));
  expect(sounds.map(({ file }) => file).sort()).toEqual(names.map((name) => name.normalize('NFC')).sort());
  const reason = expect.stringMatching(/^Another file has this name, with its accents/);
  expect(rejected.map((each) => each.reason)).toEqual(names.map(() => reason));
});

test('a name that is not UTF-8 is rejected with what to do', async ({ skip }) => {
  skip(process.platform !== 'linux', 'Other systems have no such names.');
  const folder = await makeFolder({ 'a.wav': tone() });
  const path = (name: string) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
  await writeFile(path('B\xe4r.wav'), tone());
  await mkdir(path('gr\xfcn'));
  const { sounds, rejected } = await readFolder(folder);
  await rm(path('gr\xfcn'), { recursive: true });
  const reason = 'Its name is not in UTF-8. Rename it.';
  expect([sounds.length, rejected]).toEqual([1, ['Bär.wav', 'grün'].map((where) => ({ where, reason }))]);
});

test('files that cannot be read are rejected, and the rest is imported, also through links', async ({
  sql,
  skip,
}) => {
  skip(process.getuid?.() === 0 && !unprivileged, 'Install setpriv: root may read everything.');
  const category = await addCategory(sql);
  const names = ['a.wav', 'b.wav', 'locked/c.wav'];
  const folder = await makeFolder(Object.fromEntries(names.map((name) => [`${category}/${name}`, tone()])));
  const path = (name: string) => join(folder, category, name);
  await symlink('nowhere.wav', path('dangling.wav'));
  await symlink('.', path('round'));
  await symlink(join(await makeFolder({ 'b.wav': tone() }), 'b.wav'), path('linked.wav'));
  // Lets users other than root remove the folder.
  onTestFinished(() => chmod(path('locked'), 0o755));
  await chmod(folder, 0o755);
  await chmod(path('b.wav'), 0);
  await chmod(path('locked'), 0);
  const command = startImport([folder, '--yes'], undefined, unprivileged);
  expect(await command.exited).toBe(1);
  expect(rejectedLines(command.output.stdout)).toEqual([
    expect.stringMatching(/locked\/ +You do not have permission to read it\./),
    expect.stringMatching(/b\.wav +You do not have permission to read it\./),
    expect.stringMatching(/dangling\.wav +The file does not exist\./),
  ]);
  expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['A', 'Linked']);
});

test('a folder without recordings is answered with the extensions that the import knows', async () => {
  const { code, stdout } = await importFolder(await makeFolder({ 'notes.txt': 'x', 'cover.jpg': 'x' }));
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /^No recordings were found in \S+: [^\n]+\.\nnote +notes\.txt +Not imported[^\n]+\n$/,
    ),
  ]);
  const extensions = /: (.*)\n/.exec(stdout)?.[1]?.match(/\.\w+/g) ?? [];
  const { rejected } = await readFiles(Object.fromEntries(extensions.map((each) => [`a${each}`, ''])));
  const empty = expect.stringMatching(/^The file is empty/);
  expect(rejected.map(({ reason }) => reason)).toEqual(extensions.map(() => empty));
});
