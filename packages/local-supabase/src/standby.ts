import { spawnSync } from 'node:child_process';
import { clusterFolder, superuserName } from './postgres.ts';
import { serverAccount } from './postgres-files.ts';

// Runs as the account of Postgres, which can read the primary's folder and must own the standby's folder.
const standbyScript = `
cp -Rp "$1" "$2" && : > "$2/standby.signal" &&
echo "primary_conninfo = 'host=127.0.0.1 port=$3 user=$4'" >> "$2/postgresql.auto.conf"`;

/**
 * Copies a database as a hot standby. `startPostgres` on its folder starts a read-only server that follows the primary.
 * @param primaryDir data folder of a stopped database
 * @param standbyDir data folder of the standby
 * @param primaryPort port of the primary when it runs again
 */
export function makeStandby(primaryDir: string, standbyDir: string, primaryPort: number): void {
  const folders = [clusterFolder(primaryDir), clusterFolder(standbyDir)];
  const { status, stderr } = spawnSync(
    '/bin/sh',
    ['-c', standbyScript, 'copy', ...folders, String(primaryPort), superuserName],
    {
      ...serverAccount(standbyDir),
      cwd: '/',
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`The database could not be copied: ${stderr}`);
}
