import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

// Error code of SQLite for a lock of another process.
const sqliteBusy = 5;

/**
 * Locks the data folder for this process. The operating system releases the lock when the process ends.
 * @returns a function that releases it earlier
 * @throws an Error of one sentence if another process has locked it, or the folder is not writable
 */
export function lockFolder(folder: string): () => void {
  const holder = join(folder, 'pid');
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(folder, 'lock'));
    file.exec('pragma locking_mode = exclusive; begin exclusive');
    // Write the process id into another file, because other processes cannot read a locked file.
    writeFileSync(holder, String(process.pid));
  } catch (error) {
    const busy = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
    file?.close();
    if (!busy) throw new Error(`The data folder ${folder} is not writable. Set DEV_DATA_DIR to another one.`);
    throw new Error(
      `The data folder ${folder} is in use by another npm run dev, process ${readFileSync(holder, 'utf8')}: stop that one, or set DEV_DATA_DIR to another folder.`,
    );
  }
  const held = file;
  return () => held.isOpen && held.close();
}
