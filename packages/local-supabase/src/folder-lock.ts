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
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(folder, 'lock'));
    file.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    const busy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    file?.close();
    throw new Error(
      busy
        ? `The data folder ${folder} is in use by another npm run dev: stop that one, or set DEV_DATA_DIR to another folder.`
        : `The data folder ${folder} is not writable.`,
    );
  }
  const held = file;
  return () => held.isOpen && held.close();
}
