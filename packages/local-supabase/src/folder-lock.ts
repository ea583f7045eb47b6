import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

// SQLite's code for "somebody else holds the lock".
const SQLITE_BUSY = 5;

/**
 * Takes the data folder for this process. The operating system lets go of it when the process ends, however it ends.
 * @returns what lets go of it earlier
 * @throws an Error of one sentence when another process has it, or the folder cannot be written
 */
export function lockFolder(folder: string): () => void {
  const holder = join(folder, 'pid');
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(folder, 'lock'));
    file.exec('pragma locking_mode = exclusive; begin exclusive');
    // Nobody else can read what is in a locked file.
    writeFileSync(holder, String(process.pid));
  } catch (error) {
    const busy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    file?.close();
    if (!busy) throw new Error(`The data folder ${folder} is not writable.`);
    throw new Error(
      `The data folder ${folder} is in use by another npm run dev, process ${readFileSync(holder, 'utf8')}: stop that one, or set DEV_DATA_DIR to another folder.`,
    );
  }
  const held = file;
  return () => held.isOpen && held.close();
}
