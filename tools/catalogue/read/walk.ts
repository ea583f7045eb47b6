import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import { typeOf } from '../shared/paths.ts';
import { asRejected, type Problem } from '../shared/problems.ts';
import { oneOrMany } from '../shared/text.ts';
import { isSheet } from './csv.ts';
import type { ExportedFile } from './manifest.ts';

export interface FoundFile {
  source: string;
  /** MIME type of the extension. */
  type: string;
  /** True for a link, and for a file in a linked folder. */
  isLink: boolean;
  /** Entry of the manifest, if an export wrote the file. */
  exported?: ExportedFile;
}

/** Files of a folder in alphabetical order, by their names relative to it: with `/`, and in NFC. */
export interface Found {
  recordings: Map<string, FoundFile>;
  pictures: Map<string, FoundFile>;
  sheets: string[];
  /** Files of other kinds. */
  others: string[];
  /** Files that macOS has removed from this computer, because they are in iCloud. */
  inCloud: Set<string>;
  /** Folders that are skipped, and files in iCloud. */
  notes: Problem[];
  /** Files and folders that cannot be read. */
  rejected: Problem[];
}

/** Examples for the message about an empty folder. Other audio types are accepted, too. */
export const commonExtensions = '.mp3, .m4a, .mp4, .aac, .wav, .flac, .ogg, .opus, .webm';

/** Matches playlists, and Speex, which apps do not play. */
const noRecording = /\.(m3u8?|pls|spx)$/i;

/**
 * Finds the files of a folder, of the folders below it, and of linked folders.
 * @param manifest entries of an export, by the names of files in the folder
 */
export async function walk(folder: string, manifest: Map<string, ExportedFile>): Promise<Found> {
  const files = { recordings: new Map(), pictures: new Map(), sheets: [], others: [], inCloud: new Set<string>() };
  const found: Found = { ...files, notes: [], rejected: [] };
  const system: string[] = [];
  /** Real paths of the folder and of linked folders. */
  const roots = [await realpath(folder)];
  const reject = (where: string) => (error: unknown) => {
    found.rejected.push({ where, reason: asRejected(error).message });
  };
  const look = async (source: string, below: string, isLinked: boolean) => {
    const entries = (await entriesOf(source).catch(reject(`${below || '.'}/`))) ?? [];
    for (const { name } of entries) {
      const [, original] = cloudPlaceholder.exec(name.normalize('NFC')) ?? [];
      if (original !== undefined) found.inCloud.add(posix.join(below, original));
    }
    for (const { name, isText, entry } of entries.filter((each) => !isHidden(each.name))) {
      const file = posix.join(below, name.normalize('NFC'));
      if (isText) await visit(entry, join(source, name), file, isLinked).catch(reject(file));
      else found.rejected.push({ where: file, reason: 'Its name is not in UTF-8. Rename it.' });
    }
  };
  const visit = async (entry: Dirent<Buffer>, source: string, file: string, isLinked: boolean): Promise<void> => {
    const isLink = entry.isSymbolicLink();
    const target = isLink ? await stat(source) : entry;
    if (!target.isDirectory()) return addFile(file, { source, isLink: isLink || isLinked }, manifest.get(file), found);
    if (systemFolder.test(posix.basename(file))) return void system.push(`${file}/`);
    if (!isLink) return await look(source, file, isLinked);
    const real = await realpath(source);
    if (roots.some((other) => isWithin(real, other) || isWithin(other, real)))
      return void found.notes.push({ where: `${file}/`, reason: `Not read: it is a link to ${real}, ${overlap}` });
    roots.push(real);
    await look(source, file, true);
  };
  await look(folder, '', false);
  found.notes.push(...[...found.inCloud].map((file) => ({ where: file, reason: onlyInCloud })));
  const where = oneOrMany(system, `${system[0]} (${system.length} folders)`);
  if (system.length > 0) found.notes.push({ where, reason: skipped });
  return found;
}

const isWithin = (folder: string, other: string) => join(folder, sep).startsWith(join(other, sep));
/** Matches the placeholder that macOS leaves for a file that is only in iCloud. */
const cloudPlaceholder = /^\.(.+)\.icloud$/;
const onlyInCloud = 'Not read: it is in iCloud only. Download it in the Finder, then run the import again.';
const skipped = 'Skipped: recycle bins, snapshots and other folders of a NAS or an operating system are not imported.';
const taken = 'Another file has this name, with its accents written in another form of Unicode. Rename one.';
const overlap = 'which overlaps with a folder that is read. Replace the link by the files, or remove it.';

/** Folders of NAS devices, Windows, macOS and Linux for deleted files, snapshots, thumbnails and the like. */
const systemFolder = new RegExp(
  `^(${[
    '[#@~$](recycle(.bin)?|recently-snapshot|snapshots?|eadir|tmp|gmt-\\d.*|winreagent|extend)',
    '(network )?recycle bin( \\d+)?|recycler|trashbox|_nas_recycle_.*|lost\\+found|found\\.\\d{3}',
    'system volume information|config\\.msi|__macosx|network trash folder|temporary items',
  ].join('|')})$`,
  'i',
);

/** Tells whether operating systems hide a file of this name. */
const isHidden = (name: string) => /^\.|^((eh)?thumbs\.db|desktop\.ini|icon\r)$/i.test(name);

/** Tells whether an import skips a file or folder by its name. */
export const isSkipped = (name: string) => isHidden(name) || systemFolder.test(name);

function addFile(
  file: string,
  where: Pick<FoundFile, 'source' | 'isLink'>,
  exported: ExportedFile | undefined,
  { sheets, recordings, pictures, others, rejected }: Found,
): void {
  const type = exported?.type ?? typeOf(file);
  const found = { ...where, type, ...(exported && { exported }) };
  if (isSheet(posix.basename(file))) sheets.push(file);
  else if (recordings.has(file) || pictures.has(file)) rejected.push({ where: file, reason: taken });
  else if (exported) (exported.bucket === 'audio' ? recordings : pictures).set(file, found);
  else if (type.startsWith('audio/') && !noRecording.test(file)) recordings.set(file, found);
  else if (type.startsWith('image/')) pictures.set(file, found);
  else others.push(file);
}

/**
 * Lists a folder in alphabetical order. If names differ only in their form of Unicode, NFC comes first.
 * @returns entries; `isText` is false if a name is not valid UTF-8, and `name` is then decoded as Latin-1
 */
async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  const named = entries.map((entry) => {
    const isText = isUtf8(entry.name);
    return { name: entry.name.toString(isText ? 'utf8' : 'latin1'), isText, entry };
  });
  const isComposed = ({ name }: { name: string }) => name === name.normalize('NFC');
  return named.sort(
    (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || Number(isComposed(b)) - Number(isComposed(a)),
  );
}
